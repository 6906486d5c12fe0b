#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/alias_classes.hpp"
#include "graph/groups.hpp"
#include "graph/rings.hpp"
#include "graph/validation.hpp"

/// The rules of fills, flags, batches and pools.
namespace stowage::validation {
namespace {

std::string name(const Graph& graph, TensorId id) { return describe(graph.tensor(id), id); }
std::string name(const Graph& graph, OpId id) { return describe(graph.op(id), id); }

bool is_alias(const Op& op, std::uint32_t output) {
  return std::any_of(op.aliases.begin(), op.aliases.end(), [&](const Alias& alias) { return alias.output == output; });
}

Status check_fill(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  const std::string path = fmt::format("ops[{}].zero_fill", id.index());
  if (op.no_task) return fault_at(path, name(graph, id) + " has no task, so that nothing can be filled for it");
  for (std::size_t i = 0; i < op.zero_fill.outputs.size(); ++i) {
    const std::uint32_t position = op.zero_fill.outputs[i];
    const std::string at = fmt::format("{}.outputs[{}]", path, i);
    if (position >= op.outputs.size()) return fault_at(at, fmt::format("{} has no output {}", name(graph, id), position));
    const TensorId output = op.outputs[position];
    const Tensor& tensor = graph.tensor(output);
    if (tensor.view_of || is_alias(op, position) || op.contiguous_outputs == Contiguity::packed ||
        (op.contiguous_inputs == Contiguity::packed && op.inputs.size() > 1)) {
      return fault_at(at, fmt::format("{} fills {}, which lies in another tensor whose bytes that would destroy", name(graph, id),
                                      name(graph, output)));
    }
    if (tensor.flags.any_of(kOwnAddress | TensorFlag::input))
      return fault_at(at, fmt::format("{} fills {}, which holds a value from before", name(graph, id), name(graph, output)));
  }
  for (std::size_t i = 0; i < op.zero_fill.workspaces.size(); ++i) {
    const std::uint32_t position = op.zero_fill.workspaces[i];
    if (position >= op.workspaces.size())
      return fault_at(fmt::format("{}.workspaces[{}]", path, i),
                      fmt::format("{} has no workspace {}", name(graph, id), position));
  }
  return Done{};
}

/// In which batches each tensor has a value: where some op that writes what it shares memory with runs, or it had one before.
class Presence {
 public:
  explicit Presence(const Graph& graph) : graph_(graph), classes_(join_aliases(graph)), batches_(graph.batches().size()) {
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
  [[nodiscard]] std::optional<std::string> missing(TensorId tensor, OpId op) {
    while (graph_.scope_of(op).index() != 0) op = graph_.scope(graph_.scope_of(op)).op;  // which has the label of all inside
    const std::string& label = graph_.op(op).batch;
    for (std::size_t b = 0; b < batches_; ++b) {
      const bool runs = label.empty() || label == graph_.batches()[b];
      if (runs && !present_[row(tensor) + b]) return graph_.batches()[b];
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t row(TensorId tensor) {
    return classes_.find(graph_.root(tensor).tensor.index()).representative * batches_;
  }
  void add(TensorId tensor, const std::string& batch) {
    for (std::size_t b = 0; b < batches_; ++b) {
      if (batch.empty() || batch == graph_.batches()[b]) present_[row(tensor) + b] = true;
    }
  }

  const Graph& graph_;
  OffsetUnion classes_;
  std::size_t batches_;
  std::vector<bool> present_;  ///< Row-major, alias class × batch.
};

/// An op may read what is not there in some batch: a merge does. But what goes into a body, or is made of its inputs without a
/// copy, would then be undefined itself.
Status check_passed_on(const Graph& graph) {
  Presence presence(graph);
  const auto refuse = [&](OpId op, TensorId tensor, const std::string& batch, const char* what) {
    return fault_at(fmt::format("ops[{}]", op.index()),
                    fmt::format("{} {} {}, which has no value in batch '{}'", name(graph, op), what, name(graph, tensor), batch));
  };
  for (const Scope& scope : graph.scopes()) {
    for (const BodyInput& pair : scope.inputs) {
      if (const auto batch = presence.missing(pair.outer, scope.op))
        return refuse(scope.op, pair.outer, *batch, "passes into a body");
    }
  }
  for (const Group& group : find_groups(graph)) {
    if (group.kind != Contiguity::packed) continue;
    for (const std::optional<TensorId>& input : graph.op(group.op).inputs) {
      if (!input) continue;
      if (const auto batch = presence.missing(*input, group.op))
        return refuse(group.op, *input, *batch, "passes on without a copy");
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

/// A pool's name stands for one ring.
Status check_pool_list(const Graph& graph) {
  std::map<std::string, std::size_t> known;
  for (std::size_t p = 0; p < graph.pools().size(); ++p) {
    const Pool& pool = graph.pools()[p];
    const std::string path = fmt::format("pools[{}]", p);
    if (pool.memory.index() >= graph.memories().size())
      return fault_at(path + ".memory",
                      fmt::format("pool '{}' is in memory {}, which does not exist", pool.name, pool.memory.index()));
    if (pool.size < Bytes(0) || pool.size > kMaxBytes)
      return fault_at(path + ".size", fmt::format("pool '{}' has the size {}", pool.name, pool.size.value()));
    const auto [first, is_new] = known.emplace(pool.name, p);
    if (is_new) continue;
    const Pool& other = graph.pools()[first->second];
    return fault_at(
        path, other.size != pool.size
                  ? fmt::format("pool '{}' has two sizes, {} and {}", pool.name, other.size.value(), pool.size.value())
              : other.memory != pool.memory
                  ? fmt::format("pool '{}' is in two memories, {} and {}", pool.name, other.memory.index(), pool.memory.index())
                  : fmt::format("pool '{}' is listed twice", pool.name));
  }
  return Done{};
}

/// A prefetched tensor is nothing else.
bool is_plain(const Graph& graph, const Op& op, std::uint32_t position, const std::set<TensorId>& grouped) {
  const Tensor& tensor = graph.tensor(op.outputs[position]);
  TensorFlags allowed;
  return !tensor.view_of && !is_alias(op, position) && tensor.flags == allowed && op.zero_fill.empty() &&
         !grouped.contains(op.outputs[position]);
}

Status check_prefetch(const Graph& graph, OpId id, const std::set<TensorId>& grouped) {
  const Op& op = graph.op(id);
  const std::string path = fmt::format("ops[{}].prefetch", id.index());
  if (op.prefetch->index() >= graph.pools().size())
    return fault_at(path, fmt::format("{} prefetches into pool {}, which does not exist", name(graph, id), op.prefetch->index()));
  const Pool& pool = graph.pools()[op.prefetch->index()];
  if (op.no_task || !op.batch.empty())
    return fault_at(path, name(graph, id) + " prefetches, so that it must have a task and no batch label");
  for (std::uint32_t i = 0; i < op.outputs.size(); ++i) {
    const Tensor& tensor = graph.tensor(op.outputs[i]);
    if (tensor.size > pool.size)
      return fault_at(path, fmt::format("{} prefetches {} of {} bytes into pool '{}' of {}", name(graph, id),
                                        name(graph, op.outputs[i]), tensor.size.value(), pool.name, pool.size.value()));
    if (tensor.memory != pool.memory)
      return fault_at(path, fmt::format("{} prefetches {}, which is in another memory than pool '{}'", name(graph, id),
                                        name(graph, op.outputs[i]), pool.name));
    if (!is_plain(graph, op, i, grouped))
      return fault_at(path,
                      fmt::format("{} prefetches {}, which can be no view, alias, member of a group, filled, nor have flags",
                                  name(graph, id), name(graph, op.outputs[i])));
  }
  return Done{};
}

/// The rules about who uses what a ring holds, by whatever name.
class RingUsers {
 public:
  explicit RingUsers(const Graph& graph)
      : graph_(graph), slots_(place_rings(graph)), classes_(join_aliases(graph)), taken_by_(slots_.size()) {
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      slot_of_[alias_class(slots_[s].tensor)] = s;
      for (const std::size_t evicted : slots_[s].evicted) {
        if (!taken_by_[evicted]) taken_by_[evicted] = s;
      }
    }
  }

  Status check() {
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      if (taken_by_[s] && slots_[*taken_by_[s]].op == slots_[s].op) return refuse_at_once(slots_[s]);
    }
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      if (graph_.tensors()[t].flags.empty() || !slot_of_.contains(alias_class(TensorId(t)))) continue;
      return fault_at(fmt::format("tensors[{}].flags", t),
                      name(graph_, TensorId(t)) + " shares memory with a prefetched tensor, so that it can have no flags");
    }
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      if (!graph_.ops()[k].no_task) STOWAGE_TRY_STATUS(check_op(OpId(k)));
    }
    return Done{};
  }

 private:
  [[nodiscard]] std::size_t alias_class(TensorId id) { return classes_.find(graph_.root(id).tensor.index()).representative; }
  [[nodiscard]] const Pool& pool_of(const RingSlot& slot) const { return graph_.pools()[slot.pool.index()]; }

  [[nodiscard]] Error refuse_at_once(const RingSlot& slot) const {
    return fault_at(fmt::format("ops[{}].prefetch", slot.op.index()),
                    fmt::format("{} prefetches more at once than pool '{}' of {} bytes holds", name(graph_, slot.op),
                                pool_of(slot).name, pool_of(slot).size.value()));
  }

  /// It uses no more of a pool than that holds, and no slot that was taken before.
  Status check_op(OpId id) {
    std::map<PoolId, Bytes> wanted;
    std::set<std::size_t> seen;
    for (const std::optional<TensorId>& input : graph_.op(id).inputs) {
      if (input) STOWAGE_TRY_STATUS(check_use(id, *input, "reads", wanted, seen));
    }
    for (const TensorId output : graph_.op(id).outputs) STOWAGE_TRY_STATUS(check_use(id, output, "writes", wanted, seen));
    return Done{};
  }

  Status check_use(OpId id, TensorId tensor, const char* uses, std::map<PoolId, Bytes>& wanted, std::set<std::size_t>& seen) {
    const auto found = slot_of_.find(alias_class(tensor));
    if (found == slot_of_.end() || !seen.insert(found->second).second) return Done{};
    const RingSlot& slot = slots_[found->second];
    const std::string path = fmt::format("ops[{}]", id.index());
    wanted[slot.pool] += graph_.tensor(slot.tensor).size;
    if (wanted[slot.pool] > pool_of(slot).size)
      return fault_at(path, fmt::format("{} reads {} bytes of pool '{}', which has {}", name(graph_, id),
                                        wanted[slot.pool].value(), pool_of(slot).name, pool_of(slot).size.value()));
    const std::optional<std::size_t> taken = taken_by_[found->second];
    if (!taken || root_op(id) < slots_[*taken].op) return Done{};
    return fault_at(
        path, fmt::format("{} {} {}, whose place in pool '{}' of {} bytes {} has taken before", name(graph_, id), uses,
                          name(graph_, tensor), pool_of(slot).name, pool_of(slot).size.value(), name(graph_, slots_[*taken].op)));
  }

  [[nodiscard]] OpId root_op(OpId op) const {
    while (graph_.scope_of(op).index() != 0) op = graph_.scope(graph_.scope_of(op)).op;
    return op;
  }

  const Graph& graph_;
  std::vector<RingSlot> slots_;
  OffsetUnion classes_;
  std::vector<std::optional<std::size_t>> taken_by_;  ///< By slot.
  std::map<std::size_t, std::size_t> slot_of_;        ///< By alias class.
};

}  // namespace

Status check_constraints(const Graph& graph) {
  STOWAGE_TRY_STATUS(check_bodies(graph));
  STOWAGE_TRY_STATUS(check_groups(graph));
  STOWAGE_TRY_STATUS(check_fills(graph));
  STOWAGE_TRY_STATUS(check_flags(graph));
  STOWAGE_TRY_STATUS(check_batches(graph));
  return check_pools(graph);
}

Status check_fills(const Graph& graph) {
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (!graph.ops()[k].zero_fill.empty()) STOWAGE_TRY_STATUS(check_fill(graph, OpId(k)));
  }
  return Done{};
}

Status check_flags(const Graph& graph) {
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const TensorFlags flags = graph.tensors()[t].flags;
    const std::string path = fmt::format("tensors[{}].flags", t);
    if (flags.has(TensorFlag::reusable) && !flags.has(TensorFlag::zero_copy))
      return fault_at(path,
                      name(graph, TensorId(t)) + " is reusable but not zero_copy: there is no buffer of the caller's to reuse");
    if (flags.has(TensorFlag::zero_copy) && flags.any_of(kOwnAddress))
      return fault_at(path, name(graph, TensorId(t)) + " is zero_copy, but has an address of its own already");
  }
  return Done{};
}

Status check_batches(const Graph& graph) {
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
      return fault_at(fmt::format("ops[{}].inputs[{}]", k, i),
                      fmt::format("{} of batch '{}' reads {}, which only {} of batch '{}' writes", name(graph, OpId(k)), op.batch,
                                  name(graph, *op.inputs[i]), name(graph, first->second), graph.op(first->second).batch));
    }
  }
  return check_passed_on(graph);
}

Status check_pools(const Graph& graph) {
  STOWAGE_TRY_STATUS(check_pool_list(graph));
  std::set<TensorId> grouped;
  for (const Group& group : find_groups(graph)) {
    for (const GroupMember& member : group.members) grouped.insert(member.tensor);
    if (group.whole) grouped.insert(*group.whole);
  }
  bool any = false;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (!graph.ops()[k].prefetch) continue;
    STOWAGE_TRY_STATUS(check_prefetch(graph, OpId(k), grouped));
    any = true;
  }
  return any ? RingUsers(graph).check() : Done{};
}

}  // namespace stowage::validation
