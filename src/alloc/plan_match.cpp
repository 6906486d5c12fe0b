#include "alloc/plan_match.hpp"

#include <algorithm>
#include <optional>

#include "alloc/same_graph.hpp"
#include "alloc/served_graph.hpp"
#include "graph/interface/flags.hpp"

namespace stowage::alloc {
namespace {

// -------------------------------------------------------------------------------------------------------- the pattern

class TakeOverFinder {
 public:
  TakeOverFinder(const Graph& graph, const Plan& plan)
      : graph_(graph), values_(shared_values(graph)), bases_(values_.size()), at_(values_.size()) {
    for (std::size_t t = 0; t < values_.size(); ++t) {
      if (!graph.tensors()[t].view_of) bases_[values_[t]].push_back(TensorId(t));
    }
    for (const Placement& placement : plan.placements) {
      if (plan.arenas[placement.arena.index()].kind == ArenaKind::shared) at_[placement.tensor.index()] = &placement;
    }
  }

  [[nodiscard]] std::vector<TakeOver> find() const {
    std::vector<TakeOver> found;
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      if (op.no_task) continue;
      for (const InPlacePair pair : op.in_place) {
        const TensorId output = op.outputs[pair.output];
        const TensorId input = *op.inputs[pair.input];
        if (is_taken(output, input)) found.push_back(describe(OpId(k), output, input));
      }
    }
    return found;
  }

 private:
  [[nodiscard]] bool is_taken(TensorId output, TensorId input) const {
    const Placement* const to = at_[output.index()];
    const Placement* const from = at_[input.index()];
    return to != nullptr && from != nullptr && values_[output.index()] != values_[input.index()] &&
           to->arena == from->arena && to->region == from->region && to->offset == from->offset;
  }

  [[nodiscard]] TakeOver describe(OpId id, TensorId output, TensorId input) const {
    const std::uint32_t to = values_[output.index()];
    const std::uint32_t from = values_[input.index()];
    TakeOver result{.op = id, .output = output, .input = input, .guests = bases_[to], .watched = {}};
    const auto watch = [&](TensorId tensor) {
      const std::uint32_t value = values_[tensor.index()];
      if (value == to || value == from) result.watched.push_back(tensor);
    };
    for (const std::optional<TensorId>& each : graph_.op(id).inputs) {
      if (each) watch(*each);
    }
    for (const TensorId each : graph_.op(id).outputs) watch(each);
    return result;
  }

  const Graph& graph_;
  std::vector<std::uint32_t> values_;         ///< By tensor.
  std::vector<std::vector<TensorId>> bases_;  ///< By value: its tensors that are not views.
  std::vector<const Placement*> at_;          ///< By tensor; null: not in a shared arena.
};

// ---------------------------------------------------------------------------------------------------------- the match

bool same_memory(const Memory& a, const Memory& b) { return a.alignment == b.alignment && a.max_size == b.max_size; }

/// Compares everything about two ops except sizes and distances.
bool same_structure(const Op& a, const Op& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.no_task == b.no_task && a.in_place == b.in_place &&
         a.aliases.size() == b.aliases.size() && a.workspaces.size() == b.workspaces.size() && a.stream == b.stream &&
         a.after == b.after &&
         std::equal(a.aliases.begin(), a.aliases.end(), b.aliases.begin(),
                    [](const Alias& x, const Alias& y) { return x.output == y.output && x.input == y.input; });
}

bool same_flags(const Op& a, const Op& b) {
  return std::all_of(kOpFlags.begin(), kOpFlags.end(),
                     [&](const NamedOpFlag& flag) { return a.*flag.field == b.*flag.field; });
}

bool same_base(const Tensor& a, const Tensor& b) {
  return a.view_of.has_value() == b.view_of.has_value() && (!a.view_of || a.view_of->tensor == b.view_of->tensor);
}

/// Whether the output, with everything that shares its bytes, lies within the input.
bool fits(const TakeOver& each, const Graph& graph, std::span<const Bytes> offsets) {
  const Bytes room = graph.tensor(each.input).size;
  const Bytes end = offsets[each.input.index()] + room;
  return graph.tensor(each.output).size <= room &&
         std::all_of(each.guests.begin(), each.guests.end(),
                     [&](TensorId guest) { return offsets[guest.index()] + graph.tensor(guest).size <= end; });
}

class Matcher {
 public:
  Matcher(const Pattern& pattern, const Graph& graph, std::span<const Extent> last)
      : pattern_(pattern), planned_(pattern.graph), graph_(graph), last_(last) {}

  [[nodiscard]] Match run() {
    if (Replan misfit = check_all(); misfit.reason != ReplanReason::none) return {.misfit = misfit, .unchanged = false};
    return {.misfit = {}, .unchanged = unchanged_, .total = total_};
  }

 private:
  [[nodiscard]] Replan check_all() {
    if (planned_.ops().size() != graph_.ops().size() || planned_.tensors().size() != graph_.tensors().size() ||
        !std::equal(planned_.apart().begin(), planned_.apart().end(), graph_.apart().begin(), graph_.apart().end()))
      return {.reason = ReplanReason::structure};
    if (!std::equal(planned_.memories().begin(), planned_.memories().end(), graph_.memories().begin(),
                    graph_.memories().end(), same_memory))
      return {.reason = ReplanReason::memory};
    // Sizes are reported last: of several reasons, the most severe counts.
    Replan size;
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const ReplanReason reason = check_tensor(t);
      if (reason == ReplanReason::none) continue;
      const Replan misfit{.reason = reason, .tensor = TensorId(t)};
      if (reason != ReplanReason::size) return misfit;
      if (size.reason == ReplanReason::none) size = misfit;
    }
    std::size_t workspace = graph_.tensors().size();
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const ReplanReason reason = check_op(k, workspace);
      if (reason == ReplanReason::none) continue;
      const Replan misfit{.reason = reason, .tensor = {}, .op = OpId(k)};
      if (reason != ReplanReason::size && reason != ReplanReason::view) return misfit;
      if (size.reason == ReplanReason::none) size = misfit;
    }
    if (size.reason == ReplanReason::none) size = check_apart();
    return size.reason == ReplanReason::none ? check_take_overs() : size;
  }

  /// Whether the tensors that are kept apart lie where the plan expects them; views move with their offsets.
  [[nodiscard]] Replan check_apart() const {
    for (const auto& [a, b] : graph_.apart()) {
      for (const TensorId tensor : {a, b}) {
        if (graph_.root(tensor).offset != planned_.root(tensor).offset)
          return {.reason = ReplanReason::view, .tensor = tensor};
      }
    }
    return {};
  }

  [[nodiscard]] ReplanReason check_tensor(std::size_t t) {
    const Tensor& now = graph_.tensors()[t];
    const Tensor& then = planned_.tensors()[t];
    if (!same_base(now, then)) return ReplanReason::structure;
    if (now.memory != then.memory || now.alignment != then.alignment) return ReplanReason::memory;
    if (now.flags != then.flags) return ReplanReason::flags;
    if (now.size > then.size) return ReplanReason::size;
    total_ += now.size;
    unchanged_ = unchanged_ && last_[t] == Extent{now.size, graph_.root(TensorId(t)).offset};
    return ReplanReason::none;
  }

  /// `workspace` is the index in `last_` where this op's workspaces begin; it is advanced to the next op's.
  [[nodiscard]] ReplanReason check_op(std::size_t k, std::size_t& workspace) {
    const Op& now = graph_.ops()[k];
    const Op& then = planned_.ops()[k];
    if (!same_structure(now, then)) return ReplanReason::structure;
    if (!same_flags(now, then)) return ReplanReason::flags;
    ReplanReason size = ReplanReason::none;
    for (std::size_t w = 0; w < now.workspaces.size(); ++w, ++workspace) {
      const Workspace& a = now.workspaces[w];
      const Workspace& b = then.workspaces[w];
      if (a.memory != b.memory || a.alignment != b.alignment) return ReplanReason::memory;
      if (a.no_reuse != b.no_reuse) return ReplanReason::flags;
      if (a.size > b.size) size = ReplanReason::size;
      unchanged_ = unchanged_ && last_[workspace].size == a.size;
    }
    return size == ReplanReason::none && !same_distances(now, then) ? ReplanReason::view : size;
  }

  /// Whether aliases keep their tensors at the same distances.
  [[nodiscard]] bool same_distances(const Op& now, const Op& then) const {
    for (std::size_t i = 0; i < now.aliases.size(); ++i) {
      const TensorId output = now.outputs[now.aliases[i].output];
      const TensorId input = *now.inputs[now.aliases[i].input];
      const Bytes before = planned_.root(input).offset + then.aliases[i].offset - planned_.root(output).offset;
      if (graph_.root(input).offset + now.aliases[i].offset - graph_.root(output).offset != before) return false;
    }
    return true;
  }

  [[nodiscard]] Replan check_take_overs() const {
    for (const TakeOver& each : pattern_.take_overs) {
      for (const TensorId tensor : each.watched) {
        if (graph_.root(tensor).offset != planned_.root(tensor).offset)
          return {.reason = ReplanReason::view, .tensor = tensor, .op = each.op};
      }
      if (!fits(each, graph_, pattern_.offsets))
        return {.reason = ReplanReason::in_place, .tensor = each.output, .op = each.op};
    }
    return {};
  }

  const Pattern& pattern_;
  const Graph& planned_;
  const Graph& graph_;
  std::span<const Extent> last_;
  bool unchanged_ = true;
  Bytes total_;
};

}  // namespace

Pattern make_pattern(const Graph& graph, const Graph& served, const Plan& plan) {
  if (!graph.needs_addresses_only()) return {graph, {}, {}};
  Pattern pattern{graph, std::vector<Bytes>(graph.tensors().size()), TakeOverFinder(served, plan).find()};
  for (const Placement& placement : plan.placements) pattern.offsets[placement.tensor.index()] = placement.offset;
  // A pair at the same offset that does not fit is not a takeover; the plan is valid there for another reason.
  std::erase_if(pattern.take_overs, [&](const TakeOver& each) { return !fits(each, graph, pattern.offsets); });
  return pattern;
}

std::vector<Extent> extents_of(const Graph& graph) {
  std::vector<Extent> extents;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t)
    extents.push_back({graph.tensors()[t].size, graph.root(TensorId(t)).offset});
  for (const Op& op : graph.ops()) {
    for (const Workspace& workspace : op.workspaces) extents.push_back({workspace.size, Bytes(0)});
  }
  return extents;
}

Bytes total_size(const Graph& graph) {
  Bytes total;
  for (const Tensor& tensor : graph.tensors()) total += tensor.size;
  return total;
}

Match match(const Pattern& pattern, const Graph& graph, std::span<const Extent> last) {
  const bool plain = pattern.graph.needs_addresses_only();
  if (plain != graph.needs_addresses_only()) return {.misfit = {.reason = ReplanReason::structure}, .unchanged = false};
  if (!plain) {
    const Replan misfit = difference(pattern.graph, graph);
    const bool fits = misfit.reason == ReplanReason::none;
    return {.misfit = misfit, .unchanged = fits, .total = fits ? total_size(graph) : Bytes(0)};
  }
  return Matcher(pattern, graph, last).run();
}

}  // namespace stowage::alloc
