#include "io/tflite/unsized.hpp"

#include <fmt/format.h>

namespace stowage::io::tflite {
namespace {

constexpr std::size_t kShown = 10;

std::vector<bool> touched(const SubgraphInfo& subgraph) {
  std::vector<bool> marks(subgraph.tensors.size());
  for (const std::uint32_t input : subgraph.inputs) marks[input] = true;
  for (const std::uint32_t output : subgraph.outputs) marks[output] = true;
  for (const OperatorInfo& op : subgraph.operators) {
    for (const std::optional<std::uint32_t>& input : op.inputs) {
      if (input) marks[*input] = true;
    }
    for (const std::uint32_t output : op.outputs) marks[output] = true;
  }
  return marks;
}

/// " (the output of WHERE)", where an operator writes it.
std::string producer_of(const SubgraphInfo& subgraph, std::uint32_t tensor) {
  for (const OperatorInfo& op : subgraph.operators) {
    for (const std::uint32_t output : op.outputs) {
      if (output == tensor) return fmt::format(", output of {}", op.kind);
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> unsized_tensors(const ModelInfo& model, const std::vector<bool>& reached) {
  std::size_t count = 0;
  std::string list;
  for (std::size_t s = 0; s < model.subgraphs.size(); ++s) {
    if (!reached[s]) continue;
    const SubgraphInfo& subgraph = model.subgraphs[s];
    const std::vector<bool> marks = touched(subgraph);
    for (std::uint32_t t = 0; t < subgraph.tensors.size(); ++t) {
      const TensorInfo& tensor = subgraph.tensors[t];
      if (tensor.size || !marks[t] || ++count > kShown) continue;
      list += fmt::format("{}'{}' (tensor {} of subgraph {}{}): {}", count == 1 ? "" : "; ", tensor.name, t, s,
                          producer_of(subgraph, t), tensor.unsized);
    }
  }
  if (count == 0) return std::nullopt;
  if (count > kShown) list += fmt::format("; and {} more", count - kShown);
  return fmt::format("{} tensor{} no fixed size, which a plan needs: {}. Convert the model with fixed shapes", count,
                     count == 1 ? " has" : "s have", list);
}

}  // namespace stowage::io::tflite
