#include "support/generators/keep_apart.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace stowage::testing {
namespace {

class Pairs {
 public:
  Pairs(const GraphDescription& graph, std::uint64_t seed) : graph_(graph), random_(seed ^ 0x6170617274) {}

  [[nodiscard]] bool chance(std::size_t percent) { return below(100) < percent; }

  [[nodiscard]] std::vector<ApartTensors> draw() {
    std::vector<ApartTensors> pairs;
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      const auto [a, b] = below(2) == 0 ? of_one_op() : any();
      if (a != b && !is_uncertain(a) && !is_uncertain(b)) pairs.push_back({a, b});
    }
    return pairs;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  [[nodiscard]] ApartTensors any() {
    return {TensorId(below(graph_.tensors.size())), TensorId(below(graph_.tensors.size()))};
  }

  /// Of two different operands, such as an output and the input that it could overwrite.
  [[nodiscard]] ApartTensors of_one_op() {
    const Op& op = graph_.ops[below(graph_.ops.size())];
    std::vector<TensorId> operands = op.outputs;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) operands.push_back(*input);
    }
    if (operands.empty()) return any();
    return {operands[below(operands.size())], operands[below(operands.size())]};
  }

  [[nodiscard]] TensorId root(TensorId id) const {
    while (graph_.tensors[id.index()].view_of) id = graph_.tensors[id.index()].view_of->tensor;
    return id;
  }

  /// Where an alias of a tensor lies in a buffer of the caller is more than the judges want to know.
  [[nodiscard]] bool is_uncertain(TensorId id) const {
    const auto is_zero_copy = [](const Tensor& tensor) { return tensor.flags.has(TensorFlag::zero_copy); };
    if (std::none_of(graph_.tensors.begin(), graph_.tensors.end(), is_zero_copy)) return false;
    return std::any_of(graph_.ops.begin(), graph_.ops.end(), [&](const Op& op) {
      return std::any_of(op.aliases.begin(), op.aliases.end(), [&](const Alias& alias) {
        return root(op.outputs[alias.output]) == root(id) || root(*op.inputs[alias.input]) == root(id);
      });
    });
  }

  const GraphDescription& graph_;
  std::mt19937_64 random_;
};

}  // namespace

Result<Graph> build_keeping_apart(GraphDescription graph, std::uint64_t seed, std::size_t percent) {
  Pairs pairs(graph, seed);
  if (!pairs.chance(percent) || graph.tensors.empty() || graph.ops.empty()) return Graph::build(std::move(graph));
  graph.apart = pairs.draw();
  while (!graph.apart.empty()) {
    if (Result<Graph> built = Graph::build(graph)) return built;
    graph.apart.pop_back();
  }
  return Graph::build(std::move(graph));
}

}  // namespace stowage::testing
