#include "alloc/same_graph.hpp"

#include <algorithm>

#include "graph/interface/flags.hpp"

namespace stowage::alloc {
namespace {

template <class List, class Same>
bool all_same(const List& a, const List& b, Same&& same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool equal_memory(const Memory& a, const Memory& b) {
  return a.alignment == b.alignment && a.max_size == b.max_size && (a.kind == "p2p") == (b.kind == "p2p");
}

bool same_ring(const Ring& a, const Ring& b) { return a.size == b.size && a.memory == b.memory; }

bool same_scope(const Scope& a, const Scope& b) {
  return a.op == b.op && a.body == b.body && a.parent == b.parent && a.first_tensor == b.first_tensor &&
         a.tensor_count == b.tensor_count && a.first_op == b.first_op && a.op_count == b.op_count &&
         a.inputs == b.inputs && a.outputs == b.outputs && a.carried == b.carried;
}

ReplanReason compare(const Tensor& a, const Tensor& b) {
  if (a.view_of != b.view_of) return ReplanReason::structure;
  if (a.memory != b.memory || a.alignment != b.alignment) return ReplanReason::memory;
  if (a.flags != b.flags) return ReplanReason::flags;
  return a.size == b.size ? ReplanReason::none : ReplanReason::size;
}

/// Of two ops everything but their workspaces.
bool equal_structure(const Op& a, const Op& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.no_task == b.no_task && a.in_place == b.in_place &&
         a.aliases == b.aliases && a.stream == b.stream && a.after == b.after &&
         a.contiguous_inputs == b.contiguous_inputs && a.contiguous_outputs == b.contiguous_outputs &&
         a.zero_fill == b.zero_fill && a.fixed_address == b.fixed_address && a.batch == b.batch &&
         a.control == b.control && a.prefetch == b.prefetch;
}

ReplanReason compare(const Op& a, const Op& b) {
  if (!equal_structure(a, b)) return ReplanReason::structure;
  const bool same_flags = std::all_of(kOpFlags.begin(), kOpFlags.end(),
                                      [&](const NamedOpFlag& flag) { return a.*flag.field == b.*flag.field; });
  if (!same_flags) return ReplanReason::flags;
  return a.workspaces == b.workspaces ? ReplanReason::none : ReplanReason::size;
}

template <class List>
std::pair<ReplanReason, std::size_t> first_difference(const List& a, const List& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const ReplanReason reason = compare(a[i], b[i]); reason != ReplanReason::none) return {reason, i};
  }
  return {ReplanReason::none, 0};
}

}  // namespace

Replan difference(const Graph& planned, const Graph& graph) {
  const bool alike = planned.tensors().size() == graph.tensors().size() && planned.ops().size() == graph.ops().size() &&
                     all_same(planned.scopes(), graph.scopes(), same_scope) &&
                     all_same(planned.apart(), graph.apart(), std::equal_to<>());
  if (!alike) return {.reason = ReplanReason::structure};
  if (!all_same(planned.memories(), graph.memories(), equal_memory) ||
      !all_same(planned.rings(), graph.rings(), same_ring))
    return {.reason = ReplanReason::memory};
  if (const auto [reason, at] = first_difference(planned.tensors(), graph.tensors()); reason != ReplanReason::none)
    return {.reason = reason, .tensor = TensorId(at)};
  if (const auto [reason, at] = first_difference(planned.ops(), graph.ops()); reason != ReplanReason::none)
    return {.reason = reason, .tensor = {}, .op = OpId(at)};
  return {};
}

}  // namespace stowage::alloc
