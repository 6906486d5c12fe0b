// One step of data-parallel training: a perceptron's forward and backward pass, all-reduces of the gradients in buckets
// while the backward pass still runs, and the optimizer. It shows what a graph compiler knows about such a step and
// memory planning must respect:
//
// - two streams: the all-reduces run on their own stream, and wait only for the last gradient of their bucket;
// - contiguous buckets: an all-reduce needs its gradients next to each other;
// - fixed addresses: the communication library has registered them, so they must be the same in every run;
// - zero fill: bias gradients and the loss are summed by atomic additions, starting from zero;
// - zero copy: samples, labels and learning rate stay in the caller's buffers;
// - a reusable buffer: other tensors use the buffer of the samples once those have been read;
// - variables: weights and their momentum outlive the step.
//
//   training_step [FILE.json]     also writes the graph there, for `stowage plan FILE.json`

#include <string>
#include <utility>
#include <vector>

#include "show_plan.hpp"
#include "stowage/stowage.hpp"

namespace {

using namespace stowage;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kSamples = 64;
constexpr std::int64_t kFeatures = 512;
constexpr std::int64_t kWidth = 256;
constexpr std::size_t kLayers = 8;
constexpr std::size_t kLayersABucket = 2;
constexpr StreamId kCommunication(1);

Bytes size_of(const Shape& shape) {
  std::int64_t size = sizeof(float);
  for (const std::int64_t extent : shape) size *= extent;
  return Bytes(size);
}

std::int64_t width_into(std::size_t layer) { return layer == 0 ? kFeatures : kWidth; }

/// The parameters of a layer, or their gradients.
struct Parameters {
  TensorId weight;
  TensorId bias;
};

class TrainingStep {
 public:
  TrainingStep() : builder_("training_step") { builder_.add(Memory{.name = "device", .alignment = Bytes(512)}); }

  Result<Graph> build() {
    forward();
    backward();
    optimize();
    return builder_.build();
  }

 private:
  TensorId tensor(std::string name, Shape shape, TensorFlags flags = {}) {
    return builder_.add(
        Tensor{.name = std::move(name), .size = size_of(shape), .dtype = "f32", .shape = shape, .flags = flags});
  }
  Parameters parameters(const std::string& name, std::size_t layer, TensorFlags flags = {}) {
    return {tensor(name + ".weight", {width_into(layer), kWidth}, flags), tensor(name + ".bias", {kWidth}, flags)};
  }
  static std::string name_of(const std::string& pass, std::size_t layer) { return pass + "." + std::to_string(layer); }

  /// Keeps the input of every layer, which the backward pass needs.
  void forward() {
    const TensorFlags from_caller{TensorFlag::input, TensorFlag::zero_copy};
    samples_ = tensor("samples", {kSamples, kFeatures}, from_caller | TensorFlag::reusable);
    labels_ = tensor("labels", {kSamples}, from_caller);
    rate_ = tensor("learning_rate", {1}, from_caller);
    activations_.push_back(tensor("normalized", {kSamples, kFeatures}));
    builder_.add(Op{.name = "normalize", .kind = "NORM", .inputs = {samples_}, .outputs = {activations_.back()}});
    for (std::size_t layer = 0; layer < kLayers; ++layer) add_layer(layer);
  }

  void add_layer(std::size_t layer) {
    const std::string name = name_of("forward", layer);
    learned_.push_back(parameters(name_of("layer", layer), layer, TensorFlag::variable));
    const TensorId sum = tensor(name + ".sum", {kSamples, kWidth});
    const TensorId out = tensor(name + ".out", {kSamples, kWidth});
    builder_.add(Op{.name = name + ".linear",
                    .kind = "LINEAR",
                    .inputs = {activations_.back(), learned_.back().weight, learned_.back().bias},
                    .outputs = {sum},
                    .workspaces = {{.size = Bytes(32768)}}});
    builder_.add(Op{.name = name + ".relu", .kind = "RELU", .inputs = {sum}, .outputs = {out}, .in_place = {{0, 0}}});
    activations_.push_back(out);
  }

  /// From the last layer to the first. A bucket is reduced as soon as its gradients are computed.
  void backward() {
    const TensorId loss = tensor("loss", {1}, TensorFlag::output);
    TensorId gradient = tensor("loss.grad", {kSamples, kWidth});
    builder_.add(Op{.name = "loss",
                    .kind = "CROSS_ENTROPY",
                    .inputs = {activations_.back(), labels_},
                    .outputs = {loss, gradient},
                    .zero_fill = {.outputs = {0}}});
    gradients_.resize(kLayers);
    reduced_by_.resize(kLayers);
    for (std::size_t layer = kLayers; layer-- > 0;) {
      gradient = add_gradients(layer, gradient);
      if (layer % kLayersABucket == 0) reduce(layer, layer + kLayersABucket);
    }
  }

  /// Returns the gradient of the layer's input.
  TensorId add_gradients(std::size_t layer, TensorId out_gradient) {
    const std::string name = name_of("backward", layer);
    const TensorId sum_gradient = tensor(name + ".sum", {kSamples, kWidth});
    builder_.add(Op{.name = name + ".relu",
                    .kind = "RELU_GRAD",
                    .inputs = {out_gradient, activations_[layer + 1]},
                    .outputs = {sum_gradient},
                    .in_place = {{0, 0}}});
    gradients_[layer] = parameters(name, layer);
    TensorId in_gradient = {};
    if (layer > 0) {
      in_gradient = tensor(name + ".in", {kSamples, kWidth});
      builder_.add(Op{.name = name + ".input",
                      .kind = "MATMUL",
                      .inputs = {sum_gradient, learned_[layer].weight},
                      .outputs = {in_gradient},
                      .workspaces = {{.size = Bytes(32768)}}});
    }
    builder_.add(Op{.name = name + ".bias",
                    .kind = "BIAS_GRAD",
                    .inputs = {sum_gradient},
                    .outputs = {gradients_[layer].bias},
                    .zero_fill = {.outputs = {0}}});
    last_gradient_ = builder_.add(Op{.name = name + ".weight",
                                     .kind = "MATMUL",
                                     .inputs = {activations_[layer], sum_gradient},
                                     .outputs = {gradients_[layer].weight},
                                     .workspaces = {{.size = Bytes(32768)}}});
    return in_gradient;
  }

  /// Sums the gradients of the layers [first, last) over all devices, in place.
  void reduce(std::size_t first, std::size_t last) {
    const std::string name = name_of("bucket", first / kLayersABucket);
    Op op{.name = name,
          .kind = "ALL_REDUCE",
          .workspaces = {{.size = Bytes(65536)}},
          .stream = kCommunication,
          .after = {last_gradient_},
          .contiguous_inputs = Contiguity::padded,
          .contiguous_outputs = Contiguity::padded,
          .fixed_address = true,
          .backend = "communication"};
    for (std::size_t layer = last; layer-- > first;) {
      const Parameters reduced = parameters(name_of("reduced", layer), layer);
      for (const auto& [in, out] :
           {std::pair(gradients_[layer].weight, reduced.weight), std::pair(gradients_[layer].bias, reduced.bias)}) {
        const auto position = static_cast<std::uint32_t>(op.outputs.size());
        op.aliases.push_back({position, position, Bytes(0)});
        op.inputs.push_back(in);
        op.outputs.push_back(out);
      }
      gradients_[layer] = reduced;
    }
    const OpId id = builder_.add(std::move(op));
    for (std::size_t layer = first; layer < last; ++layer) reduced_by_[layer] = id;
  }

  /// Stochastic gradient descent with momentum, from the bucket that was reduced first to the last one.
  void optimize() {
    for (std::size_t layer = kLayers; layer-- > 0;) {
      const Parameters momentum = parameters(name_of("momentum", layer), layer, TensorFlag::variable);
      builder_.add(Op{.name = name_of("update", layer),
                      .kind = "SGD",
                      .inputs = {gradients_[layer].weight, gradients_[layer].bias, rate_, learned_[layer].weight,
                                 learned_[layer].bias, momentum.weight, momentum.bias},
                      .outputs = {learned_[layer].weight, learned_[layer].bias, momentum.weight, momentum.bias},
                      .after = {reduced_by_[layer]}});
    }
  }

  GraphBuilder builder_;
  TensorId samples_, labels_, rate_;
  std::vector<TensorId> activations_;  ///< The input of every layer, and the output of the last.
  std::vector<Parameters> learned_;
  std::vector<Parameters> gradients_;  ///< By layer; once reduced, the reduced ones.
  std::vector<OpId> reduced_by_;
  OpId last_gradient_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> shown = {"normalized",      "forward.7.out",     "backward.7.weight",
                                          "backward.7.bias", "backward.6.weight", "loss"};
  return examples::show_plan(TrainingStep().build(), shown, argc > 1 ? argv[1] : "");
}
