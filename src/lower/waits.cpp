#include "lower/waits.hpp"

#include <algorithm>
#include <iterator>

namespace stowage {

WaitFinder::WaitFinder(const Graph& graph, const Plan& plan, const Duties& duties, const StartFills& fills)
    : graph_(graph), duties_(duties), fills_(fills), nodes_(graph, plan) {
  const std::size_t root_ops = graph.scopes().front().op_count;
  std::copy_if(plan.edges.begin(), plan.edges.end(), std::back_inserter(edges_),
               [&](Edge edge) { return edge.from < edge.to && edge.to.index() < root_ops; });
  std::sort(edges_.begin(), edges_.end(), [](Edge a, Edge b) { return a.to < b.to; });
}

std::vector<NodeWait> WaitFinder::run(std::uint32_t batch) {
  batch_ = batch;
  waits_.clear();
  tasks_.resize(graph_.ops().size());
  for (std::size_t k = 0; k < tasks_.size(); ++k) tasks_[k] = duties_.is_task(OpId(k), batch) ? 1 : 0;
  number_streams();
  if (streams_ < 2) return {};
  sources_.emplace(graph_, tasks_);
  meetings_ = fills_.meetings(batch);
  next_meeting_ = 0;
  rows_.assign(nodes_.count() * streams_, 0);
  position_.assign(nodes_.count(), 0);
  stream_of_.assign(nodes_.count(), 0);
  awaited_.assign(nodes_.count(), false);
  end_needed_.assign(nodes_.scopes, false);
  for (std::size_t s = 0; s < nodes_.scopes; ++s) {
    const bool runs = s == 0 || duties_.runs(graph_.scopes()[s].op, batch);
    if (runs) walk(ScopeId(s));
  }
  return std::move(waits_);
}

void WaitFinder::number_streams() {
  streams_ = 0;
  number_.assign(graph_.stream_count(), kNone);
  const auto use = [&](StreamId stream) {
    // `stream_count` does not include streams that only copies use.
    if (stream.index() >= number_.size()) number_.resize(stream.index() + 1, kNone);
    std::uint32_t& number = number_[stream.index()];
    if (number == kNone) number = static_cast<std::uint32_t>(streams_++);
  };
  for (const std::uint32_t clear : duties_.fills_at_start()) {
    if (fills_.batches(clear)[batch_]) use(fills_.stream(clear));
  }
  for (std::size_t k = 0; k < tasks_.size(); ++k) {
    if (tasks_[k] != 0) use(graph_.ops()[k].stream);
  }
}

void WaitFinder::walk(ScopeId id) {
  const Scope& scope = graph_.scope(id);
  next_position_ = 0;
  last_.assign(streams_, kNone);
  begin(id);
  for (std::size_t i = 0; i < scope.op_count; ++i) {
    const OpId op(scope.first_op.index() + i);
    if (tasks_[op.index()] != 0) add_op(op, id);
    if (duties_.runs(op, batch_)) sources_->executed(op);
  }
  if (id != ScopeId(0) && end_needed_[id.index()]) end(id);
  for (std::size_t i = 0; i < scope.op_count && graph_.has_bodies(); ++i) {
    const OpId op(scope.first_op.index() + i);
    for (const ScopeId body : graph_.bodies(op)) end_needed_[body.index()] = is_end_needed(body);
  }
}

void WaitFinder::begin(ScopeId scope) {
  if (scope != ScopeId(0)) return add(nodes_.begin(scope), stream_of_body(scope));
  for (const std::uint32_t clear : duties_.fills_at_start()) {
    if (!fills_.batches(clear)[batch_]) continue;
    for (const auto& [earlier, later] : fills_.overlaps()) {
      if (later == clear && fills_.batches(earlier)[batch_]) before_.push_back(nodes_.fill(earlier));
    }
    add(nodes_.fill(clear), fills_.stream(clear));
  }
}

void WaitFinder::add_op(OpId id, ScopeId scope) {
  const auto after = [&](OpId earlier) {
    if (tasks_[earlier.index()] != 0) before_.push_back(nodes_.of(earlier));
  };
  const Op& op = graph_.op(id);
  for (const OpId earlier : op.after) after(earlier);
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input) sources_->writers(*input, after);
  }
  if (scope != ScopeId(0)) {
    before_.push_back(nodes_.begin(scope));
  } else {
    const auto edges =
        std::equal_range(edges_.begin(), edges_.end(), Edge{{}, id}, [](Edge a, Edge b) { return a.to < b.to; });
    for (auto edge = edges.first; edge != edges.second; ++edge) after(edge->from);
    for (; next_meeting_ < meetings_.size() && meetings_[next_meeting_].op == id; ++next_meeting_)
      before_.push_back(nodes_.fill(meetings_[next_meeting_].clear));
  }
  add(nodes_.of(id), op.stream);
}

void WaitFinder::end(ScopeId scope) {
  std::copy_if(last_.begin(), last_.end(), std::back_inserter(before_), [](NodeId last) { return last != kNone; });
  add(nodes_.end(scope), stream_of_body(scope));
}

bool WaitFinder::is_end_needed(ScopeId body) const {
  const OpId op = graph_.scope(body).op;
  if (tasks_[op.index()] == 0) return false;
  bool copies = false;
  duties_.copies_at_end().visit(body, [&](std::uint32_t i) { copies = copies || duties_.is_made(i, batch_); });
  const NodeId owner = nodes_.of(op);
  const bool goes_on = awaited_[owner] || last_[stream_of_[owner]] != owner;
  return goes_on || copies || graph_.op(op).control == Control::loop;
}

void WaitFinder::add(NodeId node, StreamId stream) {
  const std::uint32_t own = number_[stream.index()];
  std::uint32_t* const known = row(node);
  if (last_[own] != kNone) merge(known, last_[own]);
  std::sort(before_.begin(), before_.end(), [&](NodeId a, NodeId b) { return position_[a] > position_[b]; });
  for (const NodeId earlier : before_) {
    if (known[stream_of_[earlier]] >= position_[earlier]) continue;
    waits_.push_back({node, earlier});
    awaited_[earlier] = true;
    merge(known, earlier);
  }
  before_.clear();
  position_[node] = ++next_position_;
  stream_of_[node] = own;
  last_[own] = node;
}

void WaitFinder::merge(std::uint32_t* known, NodeId earlier) {
  const std::uint32_t* const from = row(earlier);
  for (std::size_t s = 0; s < streams_; ++s) known[s] = std::max(known[s], from[s]);
  known[stream_of_[earlier]] = std::max(known[stream_of_[earlier]], position_[earlier]);
}

}  // namespace stowage
