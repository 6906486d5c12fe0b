#include "verify/fill_meetings.hpp"

#include <algorithm>
#include <tuple>

#include "verify/demand.hpp"

namespace stowage::verification {

FillMeetings::FillMeetings(const Facts& facts, const Run& run, const Demand& demand)
    : facts_(facts), graph_(facts.input.graph), run_(run), demand_(demand) {
  list_fills();
  if (filled_.empty()) return;
  for (const Filled& each : filled_) {
    for_each_at(each.spot, [&](std::uint32_t other) {
      if (other < each.clear) overlaps_.emplace_back(other, each.clear);
    });
  }
  std::sort(overlaps_.begin(), overlaps_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (std::size_t k = 0; k < graph_.scopes().front().op_count; ++k) {
    root_op_ = OpId(k);
    if (demand_.runs(root_op_)) visit_op(root_op_);
  }
}

void FillMeetings::list_fills() {
  for (const std::uint32_t i : facts_.clears.at_start()) {
    const ClearEntry& clear = facts_.clears[i];
    if (demand_.fills(i)) filled_.push_back({{clear.cell, clear.bytes}, i, clear.bytes.upper});
  }
  const auto key = [](const Filled& each) { return std::tuple(each.spot.cell, each.spot.bytes.lower, each.clear); };
  std::sort(filled_.begin(), filled_.end(), [&](const Filled& a, const Filled& b) { return key(a) < key(b); });
  for (std::size_t k = 1; k < filled_.size(); ++k) {
    if (filled_[k - 1].spot.cell == filled_[k].spot.cell)
      filled_[k].reach = std::max(filled_[k].reach, filled_[k - 1].reach);
  }
}

template <class F>
void FillMeetings::for_each_at(const Spot& spot, F&& f) const {
  auto end = std::partition_point(filled_.begin(), filled_.end(), [&](const Filled& each) {
    return std::pair(each.spot.cell, each.spot.bytes.lower) < std::pair(spot.cell, spot.bytes.upper);
  });
  for (; end != filled_.begin(); --end) {
    const Filled& each = *(end - 1);
    if (each.spot.cell != spot.cell || each.reach <= spot.bytes.lower) return;
    if (each.spot.bytes.overlaps(spot.bytes)) f(each.clear);
  }
}

void FillMeetings::visit(const Place* place, Bytes size, Bytes alignment) {
  if (!place || !place->cell || size == Bytes(0)) return;
  if (facts_.input.plan.padding == Padding::own) size = align_up(place->offset + size, alignment) - place->offset;
  const std::optional<ByteRange> bytes = range_at(place->offset, size);
  if (!bytes) return;
  for_each_at({*place->cell, *bytes}, [&](std::uint32_t clear) {
    if (known_.emplace(clear, graph_.op(root_op_).stream).second) met_.push_back({clear, root_op_});
  });
}

void FillMeetings::visit_tensor(TensorId tensor) {
  visit(facts_.input.places.valid(tensor), graph_.tensor(tensor).size, graph_.alignment(tensor));
}

void FillMeetings::visit_copy(std::uint32_t copy) {
  visit_tensor(facts_.copies.source(graph_, copy));
  visit(&facts_.copies[copy].to, graph_.tensor(facts_.copies[copy].tensor).size, Bytes(1));
}

void FillMeetings::visit_op(OpId id) {
  for (const std::uint32_t copy : demand_.copies_before(id)) visit_copy(copy);
  const Op& op = graph_.op(id);
  if (op.no_task) return;
  for (const std::uint32_t clear : facts_.clears.before(static_cast<std::uint32_t>(id.index()))) {
    const ClearEntry& entry = facts_.clears[clear];
    const Place place{entry.arena, 0, entry.bytes.lower, entry.bytes.length(), entry.cell};
    visit(&place, place.size, Bytes(1));
  }
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input && !run_.is_absent(*input)) visit_tensor(*input);
  }
  for (const TensorId output : op.outputs) visit_tensor(output);
  for (std::uint32_t w = 0; w < op.workspaces.size(); ++w)
    visit(facts_.input.places.of(WorkspaceId{id, w}), op.workspaces[w].size, graph_.alignment(op.workspaces[w]));
  visit_inside(id);
}

void FillMeetings::visit_inside(OpId id) {
  for (const ScopeId body : graph_.bodies(id)) {
    const Scope& scope = graph_.scope(body);
    for (std::size_t i = 0; i < scope.op_count; ++i) visit_op(OpId(scope.first_op.index() + i));
    for (const std::uint32_t copy : demand_.copies_at_end(body)) visit_copy(copy);
  }
}

}  // namespace stowage::verification
