#include "support/generators/annotations.hpp"

#include <array>
#include <random>

namespace stowage::testing {
namespace {

class Annotator {
 public:
  explicit Annotator(std::uint64_t seed) : random_(seed ^ 0x616e6e6f74617465) {}

  void annotate(std::vector<Tensor>& tensors, std::vector<Op>& ops) {
    for (Tensor& tensor : tensors) {
      if (chance(10)) tensor.origin = TensorId(below(1000));
    }
    for (Op& op : ops) {
      annotate(op);
      for (Body& body : op.bodies) annotate(body.tensors, body.ops);
    }
  }

  void annotate(Memory& memory) {
    if (chance(30)) memory.bandwidth = amount() + 0.25;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  [[nodiscard]] bool chance(std::size_t percent) { return below(100) < percent; }
  [[nodiscard]] double amount() {
    constexpr std::array<double, 6> kAmounts = {0, 1, 0.1, 1500, 1e-9, 3.5e14};
    return kAmounts[below(kAmounts.size())];
  }

  void annotate(Op& op) {
    constexpr std::array<const char*, 3> kLayers = {"encoder", "encoder/attention", "größe \"1\""};
    if (chance(40)) op.cost = amount();
    if (chance(20)) op.flops = amount();
    if (chance(20)) op.recompute = false;
    if (chance(50) && op.control == Control::loop) op.trip_count = static_cast<std::int64_t>(below(100));
    if (chance(10)) op.origin = OpId(below(1000));
    if (chance(20)) op.layer = kLayers[below(kLayers.size())];
    if (chance(10)) op.source = "model.py:" + std::to_string(below(100));
  }

  std::mt19937_64 random_;
};

void remove(std::vector<Tensor>& tensors, std::vector<Op>& ops) {
  for (Tensor& tensor : tensors) tensor.origin.reset();
  for (Op& op : ops) {
    op.cost.reset();
    op.flops.reset();
    op.recompute = true;
    op.origin.reset();
    op.layer.clear();
    op.source.clear();
    for (Body& body : op.bodies) remove(body.tensors, body.ops);
  }
}

}  // namespace

void annotate(GraphDescription& graph, std::uint64_t seed) {
  Annotator annotator(seed);
  annotator.annotate(graph.tensors, graph.ops);
  for (Memory& memory : graph.memories) annotator.annotate(memory);
}

void remove_annotations(GraphDescription& graph) {
  remove(graph.tensors, graph.ops);
  for (Memory& memory : graph.memories) memory.bandwidth.reset();
}

}  // namespace stowage::testing
