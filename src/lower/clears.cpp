#include "lower/clears.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stowage {
namespace {

class Clears {
 public:
  Clears(const Graph& graph, const Layout& layout, const Plan& plan) : graph_(graph), layout_(layout) {
    for (const Placement& placement : plan.placements) tensors_[placement.tensor] = &placement;
    for (const WorkspacePlacement& each : plan.workspaces) workspaces_[{each.op, each.index}] = &each;
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
    const OpId before = layout_.central_fills[id.index()] != 0 ? OpId(0) : id;
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const Placement& at = *tensors_.at(op.outputs[output]);
      push({at.arena, at.region, at.offset, filled_size(op.outputs[output]), op.zero_fill.value, before});
    }
    for (const std::uint32_t index : op.zero_fill.workspaces) {
      const auto at = workspaces_.find({id, index});
      if (at == workspaces_.end()) continue;  // of size 0
      const Bytes size = layout_.padded(at->second->size, graph_.alignment(op.workspaces[index]));
      push({at->second->arena, at->second->region, at->second->offset, size, op.zero_fill.value, before});
    }
  }

  /// Includes the padding if nothing else uses it, so that neighbouring clears merge.
  [[nodiscard]] Bytes filled_size(TensorId tensor) const {
    const ClassPlace place = layout_.sharing.place(tensor);
    const Bytes size = graph_.tensor(tensor).size;
    const bool whole = place.offset == Bytes(0) && size == layout_.classes[place.id].size;
    return whole && !layout_.demands[place.id].has(Demand::grouped) ? layout_.footprint(place.id) : size;
  }

  void push(const Clear& clear) {
    if (clear.size > Bytes(0)) clears_.push_back(clear);
  }

  std::vector<Clear> merge() {
    const auto key = [](const Clear& clear) { return std::tie(clear.before, clear.arena, clear.region, clear.value); };
    std::sort(clears_.begin(), clears_.end(),
              [&](const Clear& a, const Clear& b) { return key(a) != key(b) ? key(a) < key(b) : a.offset < b.offset; });
    std::vector<Clear> merged;
    for (const Clear& clear : clears_) {
      if (merged.empty() || key(merged.back()) != key(clear) ||
          clear.offset > merged.back().offset + merged.back().size) {
        merged.push_back(clear);
        continue;
      }
      const Bytes end = std::max(merged.back().offset + merged.back().size, clear.offset + clear.size);
      merged.back().size = end - merged.back().offset;
    }
    return merged;
  }

  const Graph& graph_;
  const Layout& layout_;
  std::map<TensorId, const Placement*> tensors_;
  std::map<WorkspaceId, const WorkspacePlacement*> workspaces_;
  std::vector<Clear> clears_;
};

}  // namespace

std::vector<Clear> find_clears(const Graph& graph, const Layout& layout, const Plan& plan) {
  if (layout.central_fills.empty()) return {};
  return Clears(graph, layout, plan).run();
}

}  // namespace stowage
