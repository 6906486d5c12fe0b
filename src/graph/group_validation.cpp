#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/groups.hpp"
#include "graph/validation.hpp"

/// The rules of contiguous inputs and outputs.
namespace stowage::validation {
namespace {

Status check_members(const Graph& graph, const Group& group) {
  const std::string path = fmt::format("ops[{}].{}", group.op.index(), group.field());
  const std::string who = describe(graph.op(group.op), group.op);
  std::set<TensorId> seen;
  for (const GroupMember& member : group.members) {
    const Tensor& tensor = graph.tensor(member.tensor);
    if (!seen.insert(member.tensor).second)
      return fault_at(path, fmt::format("{} lists {} twice in a contiguous group", who, describe(tensor, member.tensor)));
    const TensorId first = group.members.front().tensor;
    if (tensor.memory == graph.tensor(first).memory) continue;
    return fault_at(path, fmt::format("{} wants {} next to {}, which is in another memory", who, describe(tensor, member.tensor),
                                      describe(graph.tensor(first), first)));
  }
  return Done{};
}

/// The members' sizes sum to the whole's.
Status check_whole(const Graph& graph, const Group& group) {
  const Op& op = graph.op(group.op);
  const std::string path = fmt::format("ops[{}].{}", group.op.index(), group.field());
  const std::string who = describe(op, group.op);
  const bool inputs = group.side == GroupSide::inputs;
  if (!group.whole) {
    return fault_at(
        path, inputs ? fmt::format("{} packs its inputs, so that it must have exactly one output, not {}", who, op.outputs.size())
                     : fmt::format("{} splits its input without a copy, so that it must have exactly one", who));
  }
  const Tensor& whole = graph.tensor(*group.whole);
  const Bytes sum = group.members.back().offset + graph.tensor(group.members.back().tensor).size;
  if (sum != whole.size)
    return fault_at(path,
                    fmt::format("{}: the sizes of its {} sum to {}, but {} has {} bytes", who, inputs ? "inputs" : "outputs",
                                sum.value(), describe(whole, *group.whole), whole.size.value()));
  if (whole.memory != graph.tensor(group.members.front().tensor).memory)
    return fault_at(path, fmt::format("{}: {} is in another memory than its parts", who, describe(whole, *group.whole)));
  return Done{};
}

/// Outputs that are refs: all of them or none.
Status check_refs(const Graph& graph, const Group& group) {
  if (group.side != GroupSide::outputs) return Done{};
  const Op& op = graph.op(group.op);
  const auto is_ref = [&](TensorId id) {
    const bool aliased =
        std::any_of(op.aliases.begin(), op.aliases.end(), [&](const Alias& alias) { return op.outputs[alias.output] == id; });
    return aliased || graph.tensor(id).view_of.has_value() || graph.tensor(id).flags.any_of(kOwnAddress);
  };
  const auto refs =
      std::count_if(group.members.begin(), group.members.end(), [&](const GroupMember& m) { return is_ref(m.tensor); });
  const std::string path = fmt::format("ops[{}].{}", group.op.index(), group.field());
  if (group.kind == Contiguity::packed && refs > 0)
    return fault_at(path,
                    fmt::format("{} splits without a copy, so that its outputs lie in its input and can be no views, aliases, "
                                "constants, variables or externals",
                                describe(op, group.op)));
  if (refs == 0 || refs == static_cast<std::ptrdiff_t>(group.members.size())) return Done{};
  const auto odd =
      std::find_if(group.members.begin(), group.members.end(), [&](const GroupMember& m) { return is_ref(m.tensor); });
  return fault_at(path, fmt::format("{} has contiguous outputs of which some lie in other tensors, like {}, and some do not",
                                    describe(op, group.op), describe(graph.tensor(odd->tensor), odd->tensor)));
}

}  // namespace

Status check_groups(const Graph& graph) {
  for (const Group& group : find_groups(graph)) {
    STOWAGE_TRY_STATUS(check_members(graph, group));
    if (group.kind == Contiguity::packed) STOWAGE_TRY_STATUS(check_whole(graph, group));
    STOWAGE_TRY_STATUS(check_refs(graph, group));
  }
  return Done{};
}

}  // namespace stowage::validation
