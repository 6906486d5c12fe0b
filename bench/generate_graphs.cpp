#include "generate_graphs.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace stowage::bench {
namespace {

constexpr StreamId kMain{0};

/// A graph builder with the kinds of ops that the generators need.
class Net {
 public:
  Net(std::string name, Streams streams)
      : builder_(std::move(name)), side_(streams == Streams::two ? StreamId(1) : kMain) {
    builder_.add(Memory{.name = "device", .alignment = Bytes(32)});
  }

  [[nodiscard]] StreamId side() const { return side_; }
  [[nodiscard]] std::size_t ops() const { return ops_; }

  TensorId tensor(std::int64_t size, TensorFlags flags = {}) {
    return builder_.add(Tensor{.name = fmt::format("t{}", tensors_++), .size = Bytes(size), .flags = flags});
  }

  TensorId view(TensorId base, std::int64_t size, std::int64_t offset = 0) {
    const TensorId out = builder_.add(Tensor{.name = fmt::format("t{}", tensors_++),
                                             .size = Bytes(size),
                                             .view_of = ViewOf{.tensor = base, .offset = Bytes(offset)}});
    add(Op{.name = {}, .kind = "VIEW", .inputs = {base}, .outputs = {out}, .no_task = true});
    return out;
  }

  /// An op with a new result.
  TensorId op(std::vector<TensorId> inputs, std::int64_t size, StreamId stream = kMain, std::int64_t workspace = 0) {
    const TensorId out = tensor(size);
    Op op{.name = {}, .kind = "OP", .inputs = {inputs.begin(), inputs.end()}, .outputs = {out}, .stream = stream};
    if (workspace > 0) op.workspaces.push_back({.size = Bytes(workspace)});
    add(std::move(op));
    return out;
  }

  /// An op whose result may overwrite its first input.
  TensorId in_place(std::vector<TensorId> inputs, std::int64_t size, StreamId stream = kMain) {
    const TensorId out = tensor(size);
    add(Op{.name = {},
           .kind = "IN_PLACE",
           .inputs = {inputs.begin(), inputs.end()},
           .outputs = {out},
           .in_place = {{0, 0}},
           .stream = stream});
    return out;
  }

  void write(std::vector<TensorId> inputs, TensorId out, StreamId stream = kMain) {
    add(Op{.name = {}, .kind = "WRITE", .inputs = {inputs.begin(), inputs.end()}, .outputs = {out}, .stream = stream});
  }

  Graph finish() {
    Result<Graph> graph = builder_.build();
    STOWAGE_CHECK(graph.has_value(), graph.error().message.c_str());
    return std::move(graph).value();
  }

 private:
  void add(Op op) {
    op.name = fmt::format("n{}", ops_++);
    builder_.add(std::move(op));
  }

  GraphBuilder builder_;
  StreamId side_;
  std::size_t tensors_ = 0;
  std::size_t ops_ = 0;
};

// ----------------------------------------------------------------------------------------------------- language model

constexpr std::int64_t kTokens = 512;
constexpr std::int64_t kContext = 1024;
constexpr std::int64_t kRow = 4096 * 4;  ///< Bytes of one token's state.
constexpr std::int64_t kHidden = 11008 * 4;
constexpr std::int64_t kScores = 32 * kTokens * kContext * 4;
constexpr std::size_t kLlmLayerOps = 32;

TensorId linear(Net& net, TensorId x, std::int64_t size, StreamId stream = kMain) {
  return net.op({net.tensor(size, TensorFlag::constant), x}, size, stream, 64 << 10);
}

TensorId norm(Net& net, TensorId x) {
  return net.in_place({net.op({x}, kTokens * kRow), net.tensor(kRow, TensorFlag::constant)}, kTokens * kRow);
}

/// Writes the batch's rows to the end of a cache, and returns the whole cache.
TensorId store(Net& net, TensorId rows, TensorId cache) {
  net.write({rows}, net.view(cache, kTokens * kRow, (kContext - kTokens) * kRow), net.side());
  return net.view(cache, kContext * kRow);
}

TensorId llm_attention(Net& net, TensorId x, TensorId positions) {
  const std::int64_t size = kTokens * kRow;
  const TensorId normed = norm(net, x);
  const TensorId q = net.in_place({net.view(linear(net, normed, size), size), positions}, size);
  const TensorId k = net.in_place({net.view(linear(net, normed, size, net.side()), size), positions}, size, net.side());
  const TensorId keys = store(net, k, net.tensor(kContext * kRow, TensorFlag::variable));
  const TensorId v = net.view(linear(net, normed, size, net.side()), size);
  const TensorId values = store(net, v, net.tensor(kContext * kRow, TensorFlag::variable));
  const TensorId scores = net.in_place({net.op({keys, net.view(q, size)}, kScores)}, kScores);
  const TensorId heads = net.view(net.op({values, scores}, size), size);
  return net.in_place({linear(net, net.op({heads}, size), size), x}, size);
}

TensorId llm_feed_forward(Net& net, TensorId x) {
  const TensorId normed = norm(net, x);
  const TensorId gate = net.in_place({linear(net, normed, kTokens * kHidden)}, kTokens * kHidden);
  const TensorId up = linear(net, normed, kTokens * kHidden, net.side());
  const TensorId gated = net.in_place({gate, up}, kTokens * kHidden);
  return net.in_place({linear(net, gated, kTokens * kRow), x}, kTokens * kRow);
}

// ----------------------------------------------------------------------------------------------------------- training

constexpr std::int64_t kBatch = 64;
constexpr std::size_t kTrainingLayerOps = 21;

struct TrainingLayer {
  std::int64_t width;
  TensorId weight;
  TensorId scale;
  TensorId input;  ///< This and the next three are kept for the backward pass.
  TensorId normed;
  TensorId product;
  TensorId activation;
};

/// Adds 7 ops.
TensorId forward(Net& net, TrainingLayer& layer) {
  const std::int64_t size = kBatch * layer.width * 4;
  layer.normed = net.op({layer.input, layer.scale}, size);
  layer.product = net.op({layer.weight, layer.normed}, 2 * size, kMain, size / 2);
  layer.activation = net.op({layer.product}, 2 * size);
  const TensorId mask = net.op({layer.activation}, size / 2);
  const TensorId narrow = net.in_place({net.op({layer.activation, mask}, size), mask}, size);
  return net.in_place({narrow, layer.input}, size);
}

struct Gradients {
  TensorId input;
  TensorId weight;
  TensorId scale;
};

/// Adds 10 ops.
Gradients backward(Net& net, const TrainingLayer& layer, TensorId gradient) {
  const std::int64_t size = kBatch * layer.width * 4;
  const TensorId wide = net.op({gradient, layer.activation}, 2 * size);
  const TensorId product = net.in_place({wide, layer.product}, 2 * size);
  const TensorId weight = net.op({product, layer.normed}, layer.width * 256, net.side(), size / 2);
  const TensorId normed = net.op({layer.weight, product}, size, kMain, size / 2);
  const TensorId scale = net.op({net.op({normed, layer.input}, size, net.side())}, layer.width * 4, net.side());
  const TensorId input = net.in_place({net.op({normed, layer.scale}, size), layer.input}, size);
  return {.input = net.in_place({input, gradient}, size),
          .weight = net.in_place({weight}, layer.width * 256, net.side()),
          .scale = scale};
}

/// Adds 4 ops.
void optimise(Net& net, const TrainingLayer& layer, const Gradients& gradients) {
  const TensorId clipped = net.in_place({gradients.weight}, layer.width * 256);
  net.write({layer.weight, net.in_place({clipped, layer.weight}, layer.width * 256)}, layer.weight);
  net.write({layer.scale, gradients.scale}, layer.scale);
}

// --------------------------------------------------------------------------------------------------------------- UNet

constexpr std::size_t kLevels = 4;
constexpr std::int64_t kImage = 320 * 64 * 64 * 4;  ///< Bytes on the topmost level.
constexpr std::size_t kUnetBlockOps = 7;
constexpr std::size_t kUnetPairOps = 2 * kUnetBlockOps + 2;  ///< A block down, and one up with its skip.
constexpr std::size_t kUnetOtherOps = 2 * (kLevels - 1) + kUnetBlockOps + 1;  ///< Scaling, the bottom, the result.

TensorId convolve(Net& net, TensorId x, std::int64_t size) {
  return net.op({net.tensor(size / 16, TensorFlag::constant), x}, size, kMain, size / 4);
}

TensorId unet_block(Net& net, TensorId x, std::int64_t size) {
  const TensorId first = convolve(net, net.in_place({net.op({x}, size)}, size), size);
  const TensorId second = convolve(net, net.in_place({net.op({first}, size)}, size), size);
  return net.in_place({second, x}, size);
}

}  // namespace

Graph make_llm(std::size_t ops, Streams streams) {
  Net net("llm", streams);
  const std::int64_t size = kTokens * kRow;
  const TensorId positions = net.tensor(kTokens * 4, TensorFlag::input);
  TensorId x = net.tensor(size, TensorFlag::input);
  while (net.ops() % kLlmLayerOps != (ops - 1) % kLlmLayerOps) x = net.in_place({x}, size);
  while (net.ops() + 1 < ops) x = llm_feed_forward(net, llm_attention(net, x, positions));
  net.write({x}, net.tensor(kTokens * kRow, TensorFlag::output));
  STOWAGE_CHECK(net.ops() == ops, "kLlmLayerOps must be the number of ops that a layer adds");
  return net.finish();
}

Graph make_training(std::size_t ops, Streams streams) {
  Net net("training", streams);
  std::mt19937 random(1);
  const std::int64_t width = 1024;
  TensorId x = net.tensor(kBatch * width * 4, TensorFlag::input);
  while (net.ops() % kTrainingLayerOps != (ops - 1) % kTrainingLayerOps) x = net.in_place({x}, kBatch * width * 4);

  std::vector<TrainingLayer> layers((ops - 1 - net.ops()) / kTrainingLayerOps);
  for (TrainingLayer& layer : layers) {
    layer.width =
        256 * (1 + static_cast<std::int64_t>(random() % 8));  // as in a convolutional net, layers differ in size
    layer.weight = net.tensor(layer.width * 256, TensorFlag::variable);
    layer.scale = net.tensor(layer.width * 4, TensorFlag::variable);
    layer.input = x;
    x = forward(net, layer);
  }
  TensorId gradient = net.op({x}, kBatch * width * 4);
  std::vector<Gradients> gradients(layers.size());
  for (std::size_t i = layers.size(); i-- > 0;) {
    gradients[i] = backward(net, layers[i], gradient);
    gradient = gradients[i].input;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) optimise(net, layers[i], gradients[i]);
  STOWAGE_CHECK(net.ops() == ops, "kTrainingLayerOps must be the number of ops that a layer adds");
  return net.finish();
}

Graph make_unet(std::size_t ops) {
  Net net("unet", Streams::one);
  TensorId x = net.tensor(kImage, TensorFlag::input);
  while (net.ops() % kUnetPairOps != (ops - kUnetOtherOps) % kUnetPairOps) x = net.in_place({x}, kImage);
  const std::size_t blocks = (ops - net.ops() - kUnetOtherOps) / kUnetPairOps;
  const auto size_of = [&](std::size_t block) { return kImage >> (block * kLevels / blocks); };

  std::vector<TensorId> skips;
  for (std::size_t i = 0; i < blocks; ++i) {
    if (i > 0 && size_of(i) != size_of(i - 1)) x = convolve(net, x, size_of(i));
    skips.push_back(x = unet_block(net, x, size_of(i)));
  }
  x = unet_block(net, x, size_of(blocks - 1));
  for (std::size_t i = blocks; i-- > 0;) {
    if (i + 1 < blocks && size_of(i) != size_of(i + 1)) x = convolve(net, x, size_of(i));
    const TensorId both = net.op({x, skips[i]}, 2 * size_of(i));
    x = unet_block(net, convolve(net, both, size_of(i)), size_of(i));
  }
  net.write({x}, net.tensor(kImage, TensorFlag::output));
  STOWAGE_CHECK(net.ops() == ops, "kUnetPairOps and kUnetOtherOps must be the numbers of ops that are added");
  return net.finish();
}

}  // namespace stowage::bench
