#include "ggml_choices.hpp"

#include <algorithm>
#include <vector>

namespace stowage::bench {
namespace {

/// How often each tensor is read, and whether a view op refers to it.
struct Uses {
  std::vector<int> children;
  std::vector<bool> viewed;

  explicit Uses(const GraphDescription& graph) : children(graph.tensors.size()), viewed(graph.tensors.size()) {
    for (const Op& op : graph.ops) {
      for (const std::optional<TensorId>& input : op.inputs) {
        if (input) ++children[input->index()];
      }
    }
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.view_of) viewed[tensor.view_of->tensor.index()] = true;
    }
  }
};

}  // namespace

Graph with_ggml_choices(const Graph& graph) {
  GraphDescription result = graph.description();
  const Uses uses(result);
  for (Op& op : result.ops) {
    const auto taken = std::find_if(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) {
      const std::size_t source = op.inputs[pair.input]->index();
      const Tensor& tensor = result.tensors[source];
      return !tensor.view_of && !tensor.flags.any_of(kOwnAddress | TensorFlag::output) && uses.children[source] == 1 &&
             !uses.viewed[source];
    });
    op.in_place = taken == op.in_place.end() ? std::vector<InPlacePair>{} : std::vector{*taken};
  }
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    Tensor& tensor = result.tensors[i];
    if (tensor.flags.has(TensorFlag::input) && uses.children[i] == 0 && !uses.viewed[i])
      tensor.flags |= TensorFlag::output;
  }
  return *Graph::build(std::move(result));
}

}  // namespace stowage::bench
