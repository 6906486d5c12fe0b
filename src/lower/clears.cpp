#include "lower/clears.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stowage {
namespace {

using WorkspaceKey = std::tuple<BodyPath, OpId, std::uint32_t>;

class Clears {
 public:
  Clears(const Graph& graph, const Liveness& liveness, const Plan& plan) : graph_(graph), liveness_(liveness) {
    for (const Placement& placement : plan.placements) tensors_[{placement.body, placement.tensor}] = &placement;
    for (const WorkspacePlacement& each : plan.workspaces) workspaces_[{each.body, each.op, each.index}] = &each;
  }

  std::vector<Clear> run() {
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      if (!graph_.ops()[k].zero_fill.empty()) add(OpId(k));
    }
    return merge();
  }

 private:
  void add(OpId id) {
    const Op& op = graph_.op(id);
    const ScopeId scope = graph_.scope_of(id);
    const BodyPath body = graph_.path(scope);
    const bool central = liveness_.central_fills[id.index()] != 0;
    const OpId before = central ? OpId(0) : OpId(id.index() - graph_.scope(scope).first_op.index());
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const TensorId tensor = op.outputs[output];
      const TensorId local(tensor.index() - graph_.scope(scope).first_tensor.index());
      const Placement& at = *tensors_.at({body, local});
      push({at.arena, at.region, at.offset, filled_size(tensor), op.zero_fill.value, before, central ? BodyPath() : body});
    }
    for (const std::uint32_t index : op.zero_fill.workspaces) {
      const OpId local(id.index() - graph_.scope(scope).first_op.index());
      const auto at = workspaces_.find({body, local, index});
      if (at == workspaces_.end()) continue;  // of size 0
      const Bytes size = align_up(at->second->size, graph_.alignment(op.workspaces[index]));
      push({at->second->arena, at->second->region, at->second->offset, size, op.zero_fill.value, before,
            central ? BodyPath() : body});
    }
  }

  /// With the padding, where that belongs to nobody else: so that neighbours merge.
  [[nodiscard]] Bytes filled_size(TensorId tensor) const {
    const ClassPlace place = liveness_.places[tensor.index()];
    const AliasClass& klass = liveness_.classes[place.id.index()];
    const bool whole = place.offset == Bytes(0) && graph_.tensor(tensor).size == klass.size;
    return whole && !klass.grouped ? klass.footprint() : graph_.tensor(tensor).size;
  }

  void push(Clear clear) {
    if (clear.size > Bytes(0)) clears_.push_back(std::move(clear));
  }

  std::vector<Clear> merge() {
    const auto key = [](const Clear& clear) {
      return std::tie(clear.body, clear.before, clear.arena, clear.region, clear.value);
    };
    std::sort(clears_.begin(), clears_.end(),
              [&](const Clear& a, const Clear& b) { return key(a) != key(b) ? key(a) < key(b) : a.offset < b.offset; });
    std::vector<Clear> merged;
    for (Clear& clear : clears_) {
      if (merged.empty() || key(merged.back()) != key(clear) || clear.offset > merged.back().offset + merged.back().size) {
        merged.push_back(std::move(clear));
        continue;
      }
      const Bytes end = std::max(merged.back().offset + merged.back().size, clear.offset + clear.size);
      merged.back().size = end - merged.back().offset;
    }
    return merged;
  }

  const Graph& graph_;
  const Liveness& liveness_;
  std::map<std::pair<BodyPath, TensorId>, const Placement*> tensors_;
  std::map<WorkspaceKey, const WorkspacePlacement*> workspaces_;
  std::vector<Clear> clears_;
};

}  // namespace

std::vector<Clear> find_clears(const Graph& graph, const Liveness& liveness, const Plan& plan) {
  if (liveness.central_fills.empty()) return {};
  return Clears(graph, liveness, plan).run();
}

}  // namespace stowage
