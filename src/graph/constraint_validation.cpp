#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/alias_classes.hpp"
#include "graph/groups.hpp"
#include "graph/rings.hpp"
#include "graph/validation.hpp"

/// The rules of fills, flags, batches and rings.
namespace stowage::validation {
namespace {

std::string name(const Graph& graph, TensorId id) { return describe(graph.tensor(id), id); }
std::string name(const Graph& graph, OpId id) { return describe(graph.op(id), id); }

bool is_alias(const Op& op, std::uint32_t output) {
  return std::any_of(op.aliases.begin(), op.aliases.end(), [&](const Alias& alias) { return alias.output == output; });
}

/// Whether two tensors share bytes in every plan, through views, aliases and inputs of bodies.
bool overlap(const Graph& graph, const Relations& relations, TensorId a, TensorId b) {
  const AliasPlace& first = relations.place(a);
  const AliasPlace& second = relations.place(b);
  return first.representative == second.representative &&
         ByteRange{first.offset, first.offset + graph.tensor(a).size}.overlaps(
             {second.offset, second.offset + graph.tensor(b).size});
}

/// What a fill would destroy: bytes that hold a value before the run, under whatever name.
class InitialValues {
 public:
  InitialValues(const Graph& graph, const Relations& relations) : graph_(graph), relations_(relations) {
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      if (graph.tensors()[t].flags.any_of(kOwnAddress | TensorFlag::input))
        tensors_.emplace(relations.place(TensorId(t)).representative, TensorId(t));
    }
  }

  /// The first of them that shares bytes with `tensor`.
  [[nodiscard]] std::optional<TensorId> in(TensorId tensor) const {
    const auto [first, last] = tensors_.equal_range(relations_.place(tensor).representative);
    const auto found =
        std::find_if(first, last, [&](const auto& each) { return overlap(graph_, relations_, tensor, each.second); });
    return found == last ? std::nullopt : std::optional(found->second);
  }

 private:
  const Graph& graph_;
  const Relations& relations_;
  std::multimap<TensorId, TensorId> tensors_;  ///< By representative.
};

/// A fill comes right before the op or earlier, so the op cannot read former content of these bytes.
Status check_filled_inputs(const Graph& graph, const Relations& relations, OpId id) {
  const Op& op = graph.op(id);
  for (const std::uint32_t position : op.zero_fill.outputs) {
    for (const std::optional<TensorId>& input : op.inputs) {
      if (!input || !overlap(graph, relations, op.outputs[position], *input)) continue;
      return fault_at(fmt::format("ops[{}].zero_fill", id.index()),
                      fmt::format("{} fills {}, but reads the same bytes as {}", name(graph, id),
                                  name(graph, op.outputs[position]), name(graph, *input)));
    }
  }
  return Done{};
}

Status check_fill(const Graph& graph, const InitialValues& initial, OpId id) {
  const Op& op = graph.op(id);
  const std::string path = fmt::format("ops[{}].zero_fill", id.index());
  if (op.no_task) return fault_at(path, name(graph, id) + " has no task, so nothing can be filled for it");
  for (std::size_t i = 0; i < op.zero_fill.outputs.size(); ++i) {
    const std::uint32_t position = op.zero_fill.outputs[i];
    const std::string at = fmt::format("{}.outputs[{}]", path, i);
    if (position >= op.outputs.size())
      return fault_at(at, fmt::format("{} has no output {}", name(graph, id), position));
    const TensorId output = op.outputs[position];
    const Tensor& tensor = graph.tensor(output);
    if (tensor.view_of || is_alias(op, position) || op.contiguous_outputs == Contiguity::packed ||
        (op.contiguous_inputs == Contiguity::packed && op.inputs.size() > 1)) {
      return fault_at(at, fmt::format("{} fills {}, which lies inside another tensor, whose bytes would be destroyed",
                                      name(graph, id), name(graph, output)));
    }
    if (const auto given = initial.in(output))
      return fault_at(at, fmt::format("{} fills {}, which already holds a value{}", name(graph, id),
                                      name(graph, output), *given == output ? "" : ": " + name(graph, *given)));
  }
  for (std::size_t i = 0; i < op.zero_fill.workspaces.size(); ++i) {
    const std::uint32_t position = op.zero_fill.workspaces[i];
    if (position >= op.workspaces.size())
      return fault_at(fmt::format("{}.workspaces[{}]", path, i),
                      fmt::format("{} has no workspace {}", name(graph, id), position));
  }
  return Done{};
}

/// The batches in which each alias class has a value: those in which an op that writes one of its tensors runs, or all
/// of them if it has a value from the start.
class Presence {
 public:
  Presence(const Graph& graph, const Relations& relations)
      : graph_(graph), relations_(relations), batches_(graph.batches().size()) {
    present_.resize(graph.tensors().size() * batches_);
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      if (graph.tensors()[t].flags.any_of(kOwnAddress | TensorFlag::input)) add(TensorId(t), "");
    }
    for (const Op& op : graph.ops()) {
      for (const TensorId output : op.outputs) {
        if (!op.no_task) add(output, op.batch);
      }
    }
  }

  /// The first batch in which `op` runs but the tensor has no value.
  [[nodiscard]] std::optional<std::string> missing(TensorId tensor, OpId op) const {
    while (graph_.scope_of(op).index() != 0)
      op = graph_.scope(graph_.scope_of(op)).op;  // the label of the outermost op applies to everything inside
    const std::string& label = graph_.op(op).batch;
    for (std::size_t b = 0; b < batches_; ++b) {
      const bool runs = label.empty() || label == graph_.batches()[b];
      if (runs && !present_[row(tensor) + b]) return graph_.batches()[b];
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t row(TensorId tensor) const {
    return relations_.place(tensor).representative.index() * batches_;
  }
  void add(TensorId tensor, const std::string& batch) {
    for (std::size_t b = 0; b < batches_; ++b) {
      if (batch.empty() || batch == graph_.batches()[b]) present_[row(tensor) + b] = true;
    }
  }

  const Graph& graph_;
  const Relations& relations_;
  std::size_t batches_;
  std::vector<bool> present_;  ///< Row-major, alias class × batch.
};

/// An op may read a tensor that has no value in some batch; a merge does so. But a body's input, or the output of an op
/// that packs without a copy, would then be undefined itself.
Status check_passed_on(const Graph& graph, const Relations& relations) {
  const Presence presence(graph, relations);
  const auto refuse = [&](OpId op, TensorId tensor, const std::string& batch, const char* what) {
    return fault_at(fmt::format("ops[{}]", op.index()),
                    fmt::format("{} passes {} {}, but it has no value in batch '{}'", name(graph, op),
                                name(graph, tensor), what, batch));
  };
  for (const Scope& scope : graph.scopes()) {
    for (const BodyInput& pair : scope.inputs) {
      if (const auto batch = presence.missing(pair.outer, scope.op))
        return refuse(scope.op, pair.outer, *batch, "into a body");
    }
  }
  for (const Group& group : relations.groups) {
    if (group.kind != Contiguity::packed) continue;
    for (const std::optional<TensorId>& input : graph.op(group.op).inputs) {
      if (!input) continue;
      if (const auto batch = presence.missing(*input, group.op))
        return refuse(group.op, *input, *batch, "on without a copy");
    }
  }
  return Done{};
}

/// By root tensor: the ops that write it.
std::multimap<TensorId, OpId> writers(const Graph& graph) {
  std::multimap<TensorId, OpId> result;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    for (const TensorId output : graph.ops()[k].outputs) result.emplace(graph.root(output).tensor, OpId(k));
  }
  return result;
}

/// No two rings have the same name.
Status check_ring_list(const Graph& graph) {
  std::map<std::string, std::size_t> known;
  for (std::size_t p = 0; p < graph.rings().size(); ++p) {
    const Ring& ring = graph.rings()[p];
    const std::string path = fmt::format("pools[{}]", p);
    if (ring.memory.index() >= graph.memories().size())
      return fault_at(path + ".memory",
                      fmt::format("ring '{}' is in memory {}, which does not exist", ring.name, ring.memory.index()));
    if (ring.size < Bytes(0) || ring.size > kMaxBytes)
      return fault_at(path + ".size", fmt::format("ring '{}' has the size {}, which is not from 0 to 2^62", ring.name,
                                                  ring.size.value()));
    const auto [first, is_new] = known.emplace(ring.name, p);
    if (is_new) continue;
    const Ring& other = graph.rings()[first->second];
    return fault_at(
        path, other.size != ring.size
                  ? fmt::format("ring '{}' has two sizes, {} and {}", ring.name, other.size.value(), ring.size.value())
              : other.memory != ring.memory ? fmt::format("ring '{}' is in two memories, {} and {}", ring.name,
                                                          other.memory.index(), ring.memory.index())
                                            : fmt::format("ring '{}' is listed twice", ring.name));
  }
  return Done{};
}

/// Whether a prefetched output has no other role: no view, alias, fill, group or flag.
bool is_nothing_else(const Graph& graph, const Op& op, std::uint32_t position, const std::set<TensorId>& grouped) {
  const Tensor& tensor = graph.tensor(op.outputs[position]);
  TensorFlags allowed;
  return !tensor.view_of && !is_alias(op, position) && tensor.flags == allowed && op.zero_fill.empty() &&
         !grouped.contains(op.outputs[position]);
}

Status check_prefetch(const Graph& graph, OpId id, const std::set<TensorId>& grouped) {
  const Op& op = graph.op(id);
  const std::string path = fmt::format("ops[{}].prefetch", id.index());
  if (op.prefetch->index() >= graph.rings().size())
    return fault_at(
        path, fmt::format("{} prefetches into ring {}, which does not exist", name(graph, id), op.prefetch->index()));
  const Ring& ring = graph.rings()[op.prefetch->index()];
  if (op.no_task || !op.batch.empty())
    return fault_at(path, name(graph, id) + " prefetches, so it must have a task and no batch label");
  for (std::uint32_t i = 0; i < op.outputs.size(); ++i) {
    const Tensor& tensor = graph.tensor(op.outputs[i]);
    if (tensor.size > ring.size)
      return fault_at(path, fmt::format("{} prefetches {} of {} bytes into ring '{}' of {}", name(graph, id),
                                        name(graph, op.outputs[i]), tensor.size.value(), ring.name, ring.size.value()));
    if (tensor.memory != ring.memory)
      return fault_at(path, fmt::format("{} prefetches {}, which is in another memory than ring '{}'", name(graph, id),
                                        name(graph, op.outputs[i]), ring.name));
    if (!is_nothing_else(graph, op, i, grouped))
      return fault_at(
          path, fmt::format("{} prefetches {}, which cannot be a view, an alias, filled or a member of a contiguous "
                            "group, and cannot have flags",
                            name(graph, id), name(graph, op.outputs[i])));
  }
  return Done{};
}

/// The rules for the ops that access memory of a ring, through any tensor of an alias class.
class RingUsers {
 public:
  RingUsers(const Graph& graph, const Relations& relations)
      : graph_(graph), relations_(relations), ranges_(relations.ring_ranges), taken_by_(ranges_.size()) {
    for (std::size_t s = 0; s < ranges_.size(); ++s) {
      range_of_[alias_class(ranges_[s].tensor)] = s;
      for (const std::size_t evicted : ranges_[s].evicted) {
        if (!taken_by_[evicted]) taken_by_[evicted] = s;
      }
    }
  }

  Status check() {
    for (std::size_t s = 0; s < ranges_.size(); ++s) {
      if (taken_by_[s] && ranges_[*taken_by_[s]].op == ranges_[s].op) return refuse_at_once(ranges_[s]);
    }
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      if (graph_.tensors()[t].flags.empty() || !range_of_.contains(alias_class(TensorId(t)))) continue;
      return fault_at(fmt::format("tensors[{}].flags", t),
                      name(graph_, TensorId(t)) + " shares memory with a prefetched tensor, so it cannot have flags");
    }
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      STOWAGE_TRY_STATUS(check_reuse(OpId(k)));
      if (!graph_.ops()[k].no_task) STOWAGE_TRY_STATUS(check_op(OpId(k)));
    }
    return Done{};
  }

 private:
  /// The bytes of a ring are for reuse, so no output there may have `no_reuse` through its op either.
  [[nodiscard]] Status check_reuse(OpId id) const {
    const Op& op = graph_.op(id);
    for (const TensorId output : op.outputs) {
      if (!op.no_reuse || !range_of_.contains(alias_class(output))) continue;
      return fault_at(
          fmt::format("ops[{}].no_reuse", id.index()),
          fmt::format("{} cannot have no_reuse, because {} lies in a ring", name(graph_, id), name(graph_, output)));
    }
    return Done{};
  }

  [[nodiscard]] TensorId alias_class(TensorId id) const { return relations_.place(id).representative; }
  [[nodiscard]] const Ring& ring_of(const RingRange& range) const { return graph_.rings()[range.ring.index()]; }

  [[nodiscard]] Error refuse_at_once(const RingRange& range) const {
    return fault_at(fmt::format("ops[{}].prefetch", range.op.index()),
                    fmt::format("{} prefetches more at once than ring '{}' of {} bytes holds", name(graph_, range.op),
                                ring_of(range).name, ring_of(range).size.value()));
  }

  /// An op uses no more of a ring than its size, and no range before it is taken or after it was evicted.
  Status check_op(OpId id) {
    std::map<RingId, Bytes> wanted;
    std::set<std::size_t> seen;
    for (const std::optional<TensorId>& input : graph_.op(id).inputs) {
      if (input) STOWAGE_TRY_STATUS(check_use(id, *input, "reads", wanted, seen));
    }
    for (const TensorId output : graph_.op(id).outputs)
      STOWAGE_TRY_STATUS(check_use(id, output, "writes", wanted, seen));
    return Done{};
  }

  Status check_use(OpId id, TensorId tensor, const char* uses, std::map<RingId, Bytes>& wanted,
                   std::set<std::size_t>& seen) {
    const auto found = range_of_.find(alias_class(tensor));
    if (found == range_of_.end() || !seen.insert(found->second).second) return Done{};
    const RingRange& range = ranges_[found->second];
    const std::string path = fmt::format("ops[{}]", id.index());
    wanted[range.ring] += graph_.tensor(range.tensor).size;
    if (wanted[range.ring] > ring_of(range).size)
      return fault_at(path, fmt::format("{} reads {} bytes of ring '{}', which has {}", name(graph_, id),
                                        wanted[range.ring].value(), ring_of(range).name, ring_of(range).size.value()));
    if (root_op(id) < range.op)
      return fault_at(path, fmt::format("{} {} {}, whose bytes in ring '{}' are not taken before {}", name(graph_, id),
                                        uses, name(graph_, tensor), ring_of(range).name, name(graph_, range.op)));
    const std::optional<std::size_t> taken = taken_by_[found->second];
    if (!taken || root_op(id) < ranges_[*taken].op) return Done{};
    return fault_at(path, fmt::format("{} {} {}, whose bytes in ring '{}' of {} bytes were already taken by {}",
                                      name(graph_, id), uses, name(graph_, tensor), ring_of(range).name,
                                      ring_of(range).size.value(), name(graph_, ranges_[*taken].op)));
  }

  [[nodiscard]] OpId root_op(OpId op) const {
    while (graph_.scope_of(op).index() != 0) op = graph_.scope(graph_.scope_of(op)).op;
    return op;
  }

  const Graph& graph_;
  const Relations& relations_;
  const std::vector<RingRange>& ranges_;
  std::vector<std::optional<std::size_t>> taken_by_;  ///< By range.
  std::map<TensorId, std::size_t> range_of_;          ///< By alias class.
};

}  // namespace

Result<Relations> check_constraints(const Graph& graph, OffsetUnion aliases) {
  STOWAGE_TRY_STATUS(check_bodies(graph, aliases));
  Relations relations{alias_places(graph, aliases), find_groups(graph), {}};
  STOWAGE_TRY_STATUS(check_groups(graph, relations));
  STOWAGE_TRY_STATUS(check_fills(graph, relations));
  STOWAGE_TRY_STATUS(check_flags(graph));
  STOWAGE_TRY_STATUS(check_batches(graph, relations));
  STOWAGE_TRY_STATUS(check_rings(graph, relations));
  STOWAGE_TRY_STATUS(check_apart(graph, relations));
  return relations;
}

Status check_fills(const Graph& graph, const Relations& relations) {
  const InitialValues initial(graph, relations);
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (graph.ops()[k].zero_fill.empty()) continue;
    STOWAGE_TRY_STATUS(check_fill(graph, initial, OpId(k)));
    STOWAGE_TRY_STATUS(check_filled_inputs(graph, relations, OpId(k)));
  }
  return Done{};
}

Status check_flags(const Graph& graph) {
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const TensorFlags flags = graph.tensors()[t].flags;
    const std::string path = fmt::format("tensors[{}].flags", t);
    if (flags.has(TensorFlag::reusable) && !flags.has(TensorFlag::zero_copy))
      return fault_at(
          path, name(graph, TensorId(t)) + " is reusable but not zero_copy: there is no caller's buffer to reuse");
    if (flags.has(TensorFlag::zero_copy) && flags.any_of(kOwnAddress))
      return fault_at(path,
                      name(graph, TensorId(t)) +
                          " is zero_copy, but a constant, variable or external tensor already has its own address");
  }
  return Done{};
}

Status check_batches(const Graph& graph, const Relations& relations) {
  if (graph.batches().empty()) return Done{};
  const std::multimap<TensorId, OpId> written = writers(graph);
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    for (std::size_t i = 0; i < op.inputs.size() && !op.batch.empty(); ++i) {
      if (!op.inputs[i]) continue;
      const TensorId root = graph.root(*op.inputs[i]).tensor;
      if (graph.tensor(root).flags.any_of(kOwnAddress | TensorFlag::input)) continue;
      const auto [first, last] = written.equal_range(root);
      const bool there = std::any_of(first, last, [&](const auto& each) {
        const std::string& batch = graph.op(each.second).batch;
        return batch.empty() || batch == op.batch;
      });
      if (first == last || there) continue;
      return fault_at(
          fmt::format("ops[{}].inputs[{}]", k, i),
          fmt::format("{} of batch '{}' reads {}, which only {} of batch '{}' writes", name(graph, OpId(k)), op.batch,
                      name(graph, *op.inputs[i]), name(graph, first->second), graph.op(first->second).batch));
    }
  }
  return check_passed_on(graph, relations);
}

Status check_rings(const Graph& graph, Relations& relations) {
  STOWAGE_TRY_STATUS(check_ring_list(graph));
  std::set<TensorId> grouped;
  for (const Group& group : relations.groups) {
    for (const GroupMember& member : group.members) grouped.insert(member.tensor);
    if (group.whole) grouped.insert(*group.whole);
  }
  bool any = false;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (!graph.ops()[k].prefetch) continue;
    STOWAGE_TRY_STATUS(check_prefetch(graph, OpId(k), grouped));
    any = true;
  }
  if (!any) return Done{};
  relations.ring_ranges = place_rings(graph);
  return RingUsers(graph, relations).check();
}

}  // namespace stowage::validation
