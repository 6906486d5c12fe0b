#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/validation.hpp"

/// The rules of contiguous inputs and outputs.
namespace stowage::validation {
namespace {

constexpr std::size_t kMaxPackedNesting = 128;

Status check_members(const Graph& graph, const Group& group) {
  const std::string path = fmt::format("ops[{}].{}", group.op.index(), group.field());
  const std::string who = describe(graph.op(group.op), group.op);
  std::set<TensorId> seen;
  for (const GroupMember& member : group.members) {
    const Tensor& tensor = graph.tensor(member.tensor);
    if (!seen.insert(member.tensor).second)
      return fault_at(path,
                      fmt::format("{} lists {} twice in a contiguous group", who, describe(tensor, member.tensor)));
    const TensorId first = group.members.front().tensor;
    if (tensor.memory == graph.tensor(first).memory) continue;
    return fault_at(path, fmt::format("{} wants {} next to {}, which is in another memory", who,
                                      describe(tensor, member.tensor), describe(graph.tensor(first), first)));
  }
  return Done{};
}

/// The whole of a packed group must not share memory with an external tensor, which we do not place.
Status check_externals(const Graph& graph, const Relations& relations) {
  std::set<TensorId> external;
  const auto representative = [&](TensorId id) { return relations.place(id).representative; };
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    if (graph.tensors()[t].flags.has(TensorFlag::external)) external.insert(representative(TensorId(t)));
  }
  for (const Group& group : relations.groups) {
    if (!group.whole || !external.contains(representative(*group.whole))) continue;
    return fault_at(
        fmt::format("ops[{}].{}", group.op.index(), group.field()),
        fmt::format("{} is packed and copies nothing, but {} is external", describe(graph.op(group.op), group.op),
                    describe(graph.tensor(*group.whole), *group.whole)));
  }
  return Done{};
}

/// The sizes of the members sum to the size of the whole.
Status check_whole(const Graph& graph, const Group& group) {
  const Op& op = graph.op(group.op);
  const std::string path = fmt::format("ops[{}].{}", group.op.index(), group.field());
  const std::string who = describe(op, group.op);
  const bool inputs = group.side == GroupSide::inputs;
  if (op.no_task)
    return fault_at(path, fmt::format("{} is packed, so it must have a task, although it copies nothing", who));
  if (!group.whole) {
    return fault_at(
        path,
        inputs ? fmt::format("{} packs its inputs, so it must have exactly one output, not {}", who, op.outputs.size())
               : fmt::format("{} splits its input without a copy, so it must have exactly one input", who));
  }
  const Tensor& whole = graph.tensor(*group.whole);
  const Bytes sum = group.members.back().offset + graph.tensor(group.members.back().tensor).size;
  if (sum != whole.size)
    return fault_at(
        path, fmt::format("{}: the sizes of its {} sum to {}, but {} has {} bytes", who, inputs ? "inputs" : "outputs",
                          sum.value(), describe(whole, *group.whole), whole.size.value()));
  if (whole.memory != graph.tensor(group.members.front().tensor).memory)
    return fault_at(path,
                    fmt::format("{}: {} is in another memory than its parts", who, describe(whole, *group.whole)));
  return Done{};
}

/// A ref is an output that is a view or an alias or has its own address. Either all outputs of a
/// group are refs or none is.
Status check_refs(const Graph& graph, const Group& group) {
  if (group.side != GroupSide::outputs) return Done{};
  const Op& op = graph.op(group.op);
  const auto is_ref = [&](TensorId id) {
    const bool aliased = std::any_of(op.aliases.begin(), op.aliases.end(),
                                     [&](const Alias& alias) { return op.outputs[alias.output] == id; });
    return aliased || graph.tensor(id).view_of.has_value() || graph.tensor(id).flags.any_of(kOwnAddress);
  };
  const auto refs =
      std::count_if(group.members.begin(), group.members.end(), [&](const GroupMember& m) { return is_ref(m.tensor); });
  const std::string path = fmt::format("ops[{}].{}", group.op.index(), group.field());
  if (group.kind == Contiguity::packed && refs > 0)
    return fault_at(path,
                    fmt::format("{} splits without a copy: its outputs lie in its input and cannot be views, aliases, "
                                "constants, variables or externals",
                                describe(op, group.op)));
  if (refs == 0 || refs == static_cast<std::ptrdiff_t>(group.members.size())) return Done{};
  const auto odd =
      std::find_if(group.members.begin(), group.members.end(), [&](const GroupMember& m) { return is_ref(m.tensor); });
  return fault_at(path,
                  fmt::format("{} has contiguous outputs, of which some lie in other tensors, like {}, and some do not",
                              describe(op, group.op), describe(graph.tensor(odd->tensor), odd->tensor)));
}

/// Outputs cannot be copied into place, so all padded groups of outputs must be possible at the same time. Groups are
/// chained through the alias classes that they share. In a chain, no two tensors may need the same bytes, and every
/// offset must satisfy the alignment.
class OutputChains {
 public:
  OutputChains(const Graph& graph, const Relations& relations)
      : graph_(graph), relations_(relations), chains_(relations.to_union()), own_address_(graph.tensors().size()) {
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      if (graph.tensors()[t].flags.any_of(kOwnAddress)) own_address_[alias_class(TensorId(t))] = true;
    }
  }

  Status add(const Group& group) {
    const TensorId first = group.members.front().tensor;
    for (const GroupMember& member : group.members) {
      if (own_address_[alias_class(member.tensor)] != own_address_[alias_class(first)])
        return refuse(group, member.tensor, "some lie in constants, variables or externals and some do not, like");
      const ViewOf a = graph_.root(member.tensor);
      const ViewOf b = graph_.root(first);
      if (!chains_.join(a.tensor.index(), b.tensor.index(), b.offset + member.offset - a.offset))
        return refuse(group, member.tensor, "other groups, views or aliases require a different offset for");
    }
    return Done{};
  }

  /// Call this after all groups have been added.
  void settle() {
    std::map<std::size_t, std::map<std::size_t, ByteRange>> extents;  // by chain and alias class
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const ByteRange bytes{place(TensorId(t)), place(TensorId(t)) + graph_.tensors()[t].size};
      const auto [known, is_new] = extents[chain(TensorId(t))].try_emplace(alias_class(TensorId(t)), bytes);
      if (!is_new)
        known->second = {std::min(known->second.lower, bytes.lower), std::max(known->second.upper, bytes.upper)};
      Bytes& alignment = alignments_.try_emplace(alias_class(TensorId(t)), Bytes(1)).first->second;
      alignment = std::max(alignment, graph_.alignment(TensorId(t)));
    }
    for (const auto& [chain, classes] : extents) {
      std::vector<std::pair<ByteRange, std::size_t>> sorted;
      for (const auto& [id, bytes] : classes) sorted.emplace_back(bytes, id);
      std::sort(sorted.begin(), sorted.end());
      lowest_[chain] = sorted.front().first.lower;
      for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        if (sorted[i].first.overlaps(sorted[i + 1].first))
          crowded_.insert(sorted[i].second), crowded_.insert(sorted[i + 1].second);
      }
      for (const auto& [bytes, id] : sorted) begins_[id] = bytes.lower;
    }
  }

  /// Precondition: `settle` was called.
  Status check(const Group& group) {
    for (const GroupMember& member : group.members) {
      const std::size_t id = alias_class(member.tensor);
      if (crowded_.contains(id)) return refuse(group, member.tensor, "another tensor would need the same bytes as");
      const Bytes lowest = lowest_[chain(member.tensor)];
      const Bytes alignment = padded_alignment(graph_, member.tensor);
      if (!is_aligned(place(member.tensor) - lowest, alignment) ||
          !is_aligned(begins_[id] - lowest, std::max(alignment, alignments_[id])))
        return refuse(group, member.tensor, "the offset breaks the alignment of");
    }
    return Done{};
  }

 private:
  [[nodiscard]] Error refuse(const Group& group, TensorId tensor, const char* why) const {
    return fault_at(fmt::format("ops[{}].{}", group.op.index(), group.field()),
                    fmt::format("the contiguous outputs of {} are impossible: {} {}",
                                describe(graph_.op(group.op), group.op), why, describe(graph_.tensor(tensor), tensor)));
  }

  [[nodiscard]] std::size_t alias_class(TensorId id) const { return relations_.place(id).representative.index(); }
  [[nodiscard]] std::size_t chain(TensorId id) { return chains_.find(graph_.root(id).tensor.index()).representative; }
  [[nodiscard]] Bytes place(TensorId id) {
    const ViewOf root = graph_.root(id);
    return chains_.find(root.tensor.index()).offset + root.offset;
  }

  const Graph& graph_;
  const Relations& relations_;
  OffsetUnion chains_;
  std::vector<bool> own_address_;            ///< By alias class.
  std::map<std::size_t, Bytes> lowest_;      ///< By chain.
  std::map<std::size_t, Bytes> begins_;      ///< By alias class.
  std::map<std::size_t, Bytes> alignments_;  ///< By alias class: the alignment that its members require.
  std::set<std::size_t> crowded_;            ///< Alias classes that share bytes with others of their chain.
};

Status check_chains(const Graph& graph, const Relations& relations) {
  const std::vector<Group>& groups = relations.groups;
  const auto concerns = [](const Group& group) {
    return group.side == GroupSide::outputs && group.kind == Contiguity::padded;
  };
  if (std::none_of(groups.begin(), groups.end(), concerns)) return Done{};
  OutputChains chains(graph, relations);
  for (const Group& group : groups) {
    if (concerns(group)) STOWAGE_TRY_STATUS(chains.add(group));
  }
  chains.settle();
  for (const Group& group : groups) {
    if (concerns(group)) STOWAGE_TRY_STATUS(chains.check(group));
  }
  return Done{};
}

/// Packed groups whose wholes are parts of others, which are parts of others: what lies in what is looked up level by
/// level.
Status check_nesting(const Graph& graph, const Relations& relations) {
  const auto node = [&](TensorId id) { return relations.place(id).representative.index(); };
  std::map<std::size_t, std::size_t> above;  // by alias class: in how many wholes it lies, one inside another
  std::vector<const Group*> packed;
  for (const Group& group : relations.groups) {
    if (group.whole) packed.push_back(&group);
  }
  // A whole made by a concat is a part of later ones; one that is split is a part of earlier ones.
  const auto deepen = [&](const Group& group) -> Status {
    const auto known = above.find(node(*group.whole));
    const std::size_t depth = known == above.end() ? 1 : known->second + 1;
    for (const GroupMember& member : group.members) {
      std::size_t& own = above[node(member.tensor)];
      own = std::max(own, depth);
    }
    if (depth <= kMaxPackedNesting) return Done{};
    return fault_at(fmt::format("ops[{}].{}", group.op.index(), group.field()),
                    fmt::format("{} is inside of more than {} packed groups, one in another",
                                describe(graph.op(group.op), group.op), kMaxPackedNesting));
  };
  for (auto group = packed.rbegin(); group != packed.rend(); ++group) {
    if ((*group)->side == GroupSide::inputs) STOWAGE_TRY_STATUS(deepen(**group));
  }
  for (const Group* const group : packed) {
    if (group->side == GroupSide::outputs) STOWAGE_TRY_STATUS(deepen(*group));
  }
  return Done{};
}

}  // namespace

Status check_groups(const Graph& graph, const Relations& relations) {
  for (const Group& group : relations.groups) {
    STOWAGE_TRY_STATUS(check_members(graph, group));
    if (group.kind == Contiguity::packed) STOWAGE_TRY_STATUS(check_whole(graph, group));
    STOWAGE_TRY_STATUS(check_refs(graph, group));
  }
  if (relations.groups.empty()) return Done{};
  STOWAGE_TRY_STATUS(check_externals(graph, relations));
  STOWAGE_TRY_STATUS(check_nesting(graph, relations));
  return check_chains(graph, relations);
}

}  // namespace stowage::validation
