#include "lower/start_fills.hpp"

#include <algorithm>
#include <set>

namespace stowage {

StartFills::StartFills(const Graph& graph, const Plan& plan, const Duties& duties)
    : graph_(graph), plan_(plan), duties_(duties), needed_(plan.clears.size()), streams_(plan.clears.size()) {
  if (duties.fills_at_start().empty()) return;
  index();
  find_overlaps();
  find_places();
  find_needs();
  find_streams();
}

void StartFills::index() {
  for (const std::uint32_t i : duties_.fills_at_start()) {
    const Clear& clear = plan_.clears[i];
    filled_.push_back({{clear.arena, clear.region}, {clear.offset, clear.offset + clear.size}, i, {}});
  }
  std::sort(filled_.begin(), filled_.end(), [](const Filled& a, const Filled& b) {
    return std::tie(a.region, a.bytes.lower, a.clear) < std::tie(b.region, b.bytes.lower, b.clear);
  });
  for (std::size_t k = 0; k < filled_.size(); ++k) {
    const bool first = k == 0 || filled_[k - 1].region != filled_[k].region;
    filled_[k].reach = first ? filled_[k].bytes.upper : std::max(filled_[k - 1].reach, filled_[k].bytes.upper);
  }
}

template <class F>
void StartFills::visit(std::pair<ArenaId, std::uint32_t> region, ByteRange bytes, F&& f) const {
  if (bytes.empty()) return;
  auto at = std::lower_bound(filled_.begin(), filled_.end(), std::pair(region, bytes.upper),
                             [](const Filled& a, const auto& b) { return std::pair(a.region, a.bytes.lower) < b; });
  while (at != filled_.begin()) {
    --at;
    if (at->region != region || at->reach <= bytes.lower) return;
    if (at->bytes.overlaps(bytes)) f(at->clear);
  }
}

void StartFills::find_overlaps() {
  for (const Filled& each : filled_) {
    visit(each.region, each.bytes, [&](std::uint32_t other) {
      if (other < each.clear) overlaps_.emplace_back(other, each.clear);
    });
  }
  std::sort(overlaps_.begin(), overlaps_.end());
}

void StartFills::find_places() {
  places_.resize(graph_.tensors().size());
  for (const Placement& place : plan_.placements) places_[place.tensor.index()] = &place;
  workspaces_.resize(graph_.ops().size());
  for (std::uint32_t i = 0; i < plan_.workspaces.size(); ++i) {
    auto& [begin, end] = workspaces_[plan_.workspaces[i].op.index()];
    if (end == 0) begin = i;
    end = i + 1;
  }
}

// ------------------------------------------------------------------------------------------------------------- needed

void StartFills::find_needs() {
  const std::size_t runs = graph_.batches().size() + 1;
  for (const std::uint32_t clear : duties_.fills_at_start()) needed_[clear].resize(runs);
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    const Op& op = graph_.ops()[k];
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const Placement* const at = places_[op.outputs[output].index()];
      if (at) need(OpId(k), {at->arena, at->region}, {at->offset, at->offset + at->size});
    }
    if (op.zero_fill.workspaces.empty()) continue;
    for (std::uint32_t i = workspaces_[k].first; i < workspaces_[k].second; ++i) {
      const WorkspacePlacement& at = plan_.workspaces[i];
      const auto& filled = op.zero_fill.workspaces;
      if (at.op != OpId(k) || std::find(filled.begin(), filled.end(), at.index) == filled.end()) continue;
      need(OpId(k), {at.arena, at.region}, {at.offset, at.offset + at.size});
    }
  }
  for (const std::uint32_t clear : duties_.fills_at_start()) {
    std::vector<bool>& batches = needed_[clear];
    if (std::find(batches.begin(), batches.end(), true) == batches.end()) batches.assign(runs, true);
  }
}

void StartFills::need(OpId op, std::pair<ArenaId, std::uint32_t> region, ByteRange bytes) {
  const std::uint8_t value = graph_.op(op).zero_fill.value;
  bool own = false;  // the op has a fill of its own
  duties_.fills_before().visit(op, [&](std::uint32_t i) {
    const Clear& clear = plan_.clears[i];
    own = own ||
          (std::pair(clear.arena, clear.region) == region && bytes.overlaps({clear.offset, clear.offset + clear.size}));
  });
  if (own) return;
  visit(region, bytes, [&](std::uint32_t clear) {
    if (plan_.clears[clear].value != value) return;
    for (std::uint32_t batch = 0; batch < needed_[clear].size(); ++batch)
      if (duties_.runs(op, batch)) needed_[clear][batch] = true;
  });
}

// ------------------------------------------------------------------------------------------------------------- meeting

ByteRange StartFills::padded(Bytes offset, Bytes size, Bytes alignment) const {
  const Bytes end = offset + size;
  return {offset, plan_.padding == Padding::own && size > Bytes(0) ? align_up(end, alignment) : end};
}

template <class F>
void StartFills::visit_tensor(TensorId tensor, F&& f) const {
  const Placement* const at = places_[tensor.index()];
  if (!at) return;
  visit({at->arena, at->region}, padded(at->offset, at->size, graph_.alignment(tensor)), f);
}

template <class F>
void StartFills::visit_op(OpId id, std::uint32_t batch, F&& f) const {
  const auto copied = [&](std::uint32_t i) {
    const Copy& copy = plan_.copies[i];
    if (!duties_.is_made(i, batch)) return;
    visit({copy.arena, copy.region}, {copy.offset, copy.offset + copy.size}, f);
    visit_tensor(source_of(graph_, copy), f);
  };
  duties_.copies_before().visit(id, copied);
  duties_.fills_before().visit(id, [&](std::uint32_t i) {
    const Clear& clear = plan_.clears[i];
    visit({clear.arena, clear.region}, {clear.offset, clear.offset + clear.size}, f);
  });
  const Op& op = graph_.op(id);
  if (op.no_task) return;
  for (const std::optional<TensorId>& input : op.inputs)
    if (input && !duties_.is_absent(*input, batch)) visit_tensor(*input, f);
  for (const TensorId output : op.outputs) visit_tensor(output, f);
  for (std::uint32_t i = workspaces_[id.index()].first; i < workspaces_[id.index()].second; ++i) {
    const WorkspacePlacement& at = plan_.workspaces[i];
    if (at.op != id || at.index >= op.workspaces.size()) continue;
    visit({at.arena, at.region}, padded(at.offset, at.size, graph_.alignment(op.workspaces[at.index])), f);
  }
  for (const ScopeId body : graph_.bodies(id)) {
    visit_scope(body, batch, f);
    duties_.copies_at_end().visit(body, copied);
  }
}

template <class F>
void StartFills::visit_scope(ScopeId id, std::uint32_t batch, F&& f) const {
  const Scope& scope = graph_.scope(id);
  for (std::size_t i = 0; i < scope.op_count; ++i) visit_op(OpId(scope.first_op.index() + i), batch, f);
}

std::vector<StartFills::Meeting> StartFills::meetings(std::uint32_t batch) const {
  std::vector<Meeting> result;
  std::set<std::pair<std::uint32_t, StreamId>> met;
  const std::size_t root_ops = duties_.fills_at_start().empty() ? 0 : graph_.scopes().front().op_count;
  for (std::size_t k = 0; k < root_ops; ++k) {
    if (!duties_.is_task(OpId(k), batch)) continue;
    visit_op(OpId(k), batch, [&](std::uint32_t clear) {
      if (!needed_[clear][batch] || !met.emplace(clear, graph_.ops()[k].stream).second) return;
      result.push_back({OpId(k), clear});
    });
  }
  return result;
}

void StartFills::find_streams() {
  if (graph_.stream_count() == 1) return;
  std::vector<bool> found(plan_.clears.size());
  const std::uint32_t batches = static_cast<std::uint32_t>(graph_.batches().size());
  for (std::uint32_t batch = batches == 0 ? 0 : 1; batch <= batches; ++batch) {
    for (const Meeting& meeting : meetings(batch)) {
      if (found[meeting.clear]) continue;
      found[meeting.clear] = true;
      streams_[meeting.clear] = graph_.op(meeting.op).stream;
    }
  }
}

}  // namespace stowage
