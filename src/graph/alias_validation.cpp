#include <algorithm>

#include <fmt/format.h>

#include "graph/validation.hpp"

namespace stowage::validation {
namespace {

Error fault(std::size_t op, std::size_t alias, std::string message) {
  return Error{ErrorCode::invalid,
               std::move(message),
               {.file = {}, .line = {}, .path = fmt::format("ops[{}].alias[{}]", op, alias)}};
}

/// One alias, with its positions resolved to ids.
struct Link {
  TensorId output;
  TensorId input;
  Bytes offset;
};

Link link_of(const Op& op, const Alias& alias) {
  return {op.outputs[alias.output], *op.inputs[alias.input], alias.offset};
}

Status join(const GraphDescription& graph, const std::vector<ViewOf>& roots, std::size_t k, std::size_t i,
            OffsetUnion& classes) {
  const Op& op = graph.ops[k];
  const Link link = link_of(op, op.aliases[i]);
  const Tensor& output = graph.tensors[link.output.index()];
  const Tensor& input = graph.tensors[link.input.index()];
  const std::string who = fmt::format("{} aliases {} to {}", describe(op, OpId(k)), describe(output, link.output),
                                      describe(input, link.input));
  if (link.offset < Bytes(0) || link.offset > kMaxBytes)
    return fault(k, i, fmt::format("{} at the offset {}, which is not from 0 to 2^62", who, link.offset.value()));
  if (output.memory != input.memory) return fault(k, i, who + ", which is in another memory");

  const ViewOf out = roots[link.output.index()];
  const ViewOf in = roots[link.input.index()];
  const TensorFlags in_flags = graph.tensors[in.tensor.index()].flags | input.flags;
  if (in_flags.has(TensorFlag::constant) && !op.no_task)
    return fault(k, i, who + ", which is constant and cannot be written");
  if (!classes.join(out.tensor.index(), in.tensor.index(), in.offset + link.offset - out.offset)) {
    return fault(k, i, who + " at an offset that contradicts other views or aliases");
  }
  return Done{};
}

/// No op writes memory that is shared with a constant, through any tensor.
Status check_constants(const GraphDescription& graph, const std::vector<ViewOf>& roots, OffsetUnion& classes) {
  std::vector<bool> constant(graph.tensors.size());
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].flags.has(TensorFlag::constant))
      constant[classes.find(roots[t].tensor.index()).representative] = true;
  }
  for (std::size_t k = 0; k < graph.ops.size(); ++k) {
    if (graph.ops[k].no_task) continue;
    for (std::size_t i = 0; i < graph.ops[k].outputs.size(); ++i) {
      const TensorId id = graph.ops[k].outputs[i];
      if (!constant[classes.find(roots[id.index()].tensor.index()).representative]) continue;
      return Error{ErrorCode::invalid,
                   fmt::format("{} writes {}, which shares memory with a constant", describe(graph.ops[k], OpId(k)),
                               describe(graph.tensors[id.index()], id)),
                   {.file = {}, .line = {}, .path = fmt::format("ops[{}].outputs[{}]", k, i)}};
    }
  }
  return Done{};
}

/// The offset at which each class starts: that of its lowest member.
std::vector<Bytes> lowest_members(const GraphDescription& graph, const std::vector<ViewOf>& roots,
                                  OffsetUnion& classes) {
  std::vector<Bytes> lowest(graph.tensors.size(), kMaxBytes);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const auto [representative, offset] = classes.find(roots[t].tensor.index());
    lowest[representative] = std::min(lowest[representative], offset + roots[t].offset);
  }
  return lowest;
}

/// A class starts at a multiple of its largest alignment; at its offset from there, every member must be aligned.
Status check_alignments(const GraphDescription& graph, const std::vector<ViewOf>& roots, OffsetUnion& classes) {
  const std::vector<Bytes> lowest = lowest_members(graph, roots, classes);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const Bytes alignment =
        tensor.alignment.value_or(tensor.view_of ? Bytes(1) : graph.memories[tensor.memory.index()].alignment);
    const auto [representative, offset] = classes.find(roots[t].tensor.index());
    const Bytes at = offset + roots[t].offset - lowest[representative];
    if (is_aligned(at, alignment)) continue;
    return Error{ErrorCode::invalid,
                 fmt::format("{} would lie {} bytes into the memory that it shares through aliases, which is not a "
                             "multiple of its alignment {}",
                             describe(tensor, TensorId(t)), at.value(), alignment.value()),
                 {.file = {}, .line = {}, .path = fmt::format("tensors[{}]", t)}};
  }
  return Done{};
}

}  // namespace

Result<OffsetUnion> join_aliases(const GraphDescription& description, const std::vector<ViewOf>& roots) {
  OffsetUnion classes(description.tensors.size());
  bool any = false;
  for (std::size_t k = 0; k < description.ops.size(); ++k) {
    for (std::size_t i = 0; i < description.ops[k].aliases.size(); ++i) {
      STOWAGE_TRY_STATUS(join(description, roots, k, i, classes));
      any = true;
    }
  }
  if (!any) return classes;
  STOWAGE_TRY_STATUS(check_constants(description, roots, classes));
  STOWAGE_TRY_STATUS(check_alignments(description, roots, classes));
  return classes;
}

}  // namespace stowage::validation
