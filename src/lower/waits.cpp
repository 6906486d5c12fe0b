#include "lower/waits.hpp"

#include <algorithm>
#include <iterator>

#include "base/interface/sort_stably.hpp"

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
  needs_.clear();
  start();
  walk(ScopeId(0));
  for (const auto& [op, exit] : exits_) {
    for (const BodyEnd& end : exit.ends)
      for (const NodeId from : end.waits) waits_.push_back({nodes_.end(end.frame.scope), from});
  }
  if (graph_.has_bodies()) reduce();
  return std::move(waits_);
}

void WaitFinder::start() {
  now_.assign(streams_, {std::vector<std::uint32_t>(streams_), {}});
  at_.assign(nodes_.count(), {});
  position_.assign(nodes_.count(), 0);
  stream_of_.assign(nodes_.count(), 0);
  next_position_ = 0;
  last_position_.assign(streams_, 0);
  exits_.clear();
}

// -------------------------------------------------------------------------------------------------------------
// reducing

void WaitFinder::reduce() {
  std::sort(waits_.begin(), waits_.end(),
            [](const NodeWait& a, const NodeWait& b) { return std::pair(a.to, a.from) < std::pair(b.to, b.from); });
  std::vector<std::size_t> doubtful;
  Trial trial{std::move(waits_), std::vector<bool>(), &doubtful};
  trial.left_out.resize(trial.waits.size());
  STOWAGE_CHECK(try_out(trial), "the waits of a program are not enough");
  trial.doubtful = nullptr;
  for (const std::size_t wait : doubtful) {
    trial.left_out[wait] = true;
    trial.left_out[wait] = try_out(trial);
  }
  waits_.clear();
  for (std::size_t i = 0; i < trial.waits.size(); ++i)
    if (!trial.left_out[i]) waits_.push_back(trial.waits[i]);
}

bool WaitFinder::try_out(Trial& trial) {
  trial.enough = true;
  trial_ = &trial;
  start();
  walk(ScopeId(0));
  trial_ = nullptr;
  return trial.enough;
}

template <class MayGoOn>
void WaitFinder::take_waits(NodeId node, Known& known, MayGoOn&& may_go_on) {
  if (!trial_->enough) return;  // the walk has ended, perhaps before it came to what is waited for
  const auto [first, last] = std::equal_range(trial_->waits.begin(), trial_->waits.end(), NodeWait{node, 0},
                                              [](const NodeWait& a, const NodeWait& b) { return a.to < b.to; });
  const Known before = trial_->doubtful ? known : Known();
  const auto index_of = [&](auto wait) { return static_cast<std::size_t>(wait - trial_->waits.begin()); };
  const auto take = [&](Known& to, auto except) {
    for (auto wait = first; wait != last; ++wait)
      if (wait != except && !trial_->left_out[index_of(wait)]) to.merge(at_[wait->from]);
  };
  take(known, last);
  trial_->enough = trial_->enough && may_go_on(known);
  for (auto wait = first; wait != last && trial_->doubtful; ++wait) {
    Known without = before;
    take(without, wait);
    if (may_go_on(without)) trial_->doubtful->push_back(index_of(wait));
  }
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
  frame_ = {id, std::vector<NodeId>(streams_, kNone), std::vector<NodeId>(streams_, kNone), {}};
  if (id == ScopeId(0)) add_start_fills();
  for (std::size_t i = 0; i < scope.op_count && (!trial_ || trial_->enough); ++i) {
    const OpId op(scope.first_op.index() + i);
    if (tasks_[op.index()] != 0) {
      add_op(op);
      if (!graph_.bodies(op).empty()) walk_bodies(op);
    }
    if (!trial_ && duties_.runs(op, batch_)) sources_->executed(op);
  }
}

void WaitFinder::add_start_fills() {
  for (const std::uint32_t clear : duties_.fills_at_start()) {
    if (!fills_.batches(clear)[batch_]) continue;
    for (const auto& [earlier, later] : fills_.overlaps()) {
      if (later == clear && fills_.batches(earlier)[batch_]) before_.push_back(nodes_.fill(earlier));
    }
    add(nodes_.fill(clear), fills_.stream(clear));
  }
}

void WaitFinder::add_op(OpId id) {
  const Op& op = graph_.op(id);
  const NodeId node = nodes_.of(id);
  if (trial_) {
    before_ = needs_[node];
  } else {
    list_needs(id);
    if (graph_.has_bodies()) needs_[node] = before_;
  }
  const bool bodies = !graph_.bodies(id).empty();
  const bool asks = op.control == Control::loop || graph_.bodies(id).size() > 1;
  const bool works = !bodies || asks || has_copies_before(id);
  add(node, op.stream, works);
  if (bodies) exits_[node] = {works, 0, {}};
}

void WaitFinder::list_needs(OpId id) {
  const auto after = [&](OpId earlier) {
    if (tasks_[earlier.index()] != 0) before_.push_back(nodes_.of(earlier));
  };
  const Op& op = graph_.op(id);
  for (const OpId earlier : op.after) after(earlier);
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input) sources_->writers(*input, after);
  }
  if (frame_.scope == ScopeId(0)) {
    const auto edges =
        std::equal_range(edges_.begin(), edges_.end(), Edge{{}, id}, [](Edge a, Edge b) { return a.to < b.to; });
    for (auto edge = edges.first; edge != edges.second; ++edge) after(edge->from);
    for (; next_meeting_ < meetings_.size() && meetings_[next_meeting_].op == id; ++next_meeting_)
      before_.push_back(nodes_.fill(meetings_[next_meeting_].clear));
  }
  const NodeId previous = frame_.previous[number_[op.stream.index()]];
  const bool is_op = previous != kNone && previous < nodes_.ops;  // who needs a fill is said above
  if (is_op && graph_.has_bodies()) before_.push_back(previous);
}

void WaitFinder::add(NodeId node, StreamId stream, bool works) {
  const std::uint32_t own = number_[stream.index()];
  Known& known = now_[own];
  const ScopeId scope = frame_.scope;
  const auto is_inside = [&](const Known& each) {
    return scope == ScopeId(0) || is_entered(each, nodes_.of(graph_.scope(scope).op));
  };
  if (trial_) {
    const auto may_go_on = [&](const Known& each) {
      const auto is_over = [&](NodeId earlier) { return knows(each, {earlier}); };
      return !works || (is_inside(each) && std::all_of(before_.begin(), before_.end(), is_over));
    };
    take_waits(node, known, may_go_on);
  } else {
    std::vector<NodeId> waits;
    std::sort(before_.begin(), before_.end(), [&](NodeId a, NodeId b) { return place_of(a) > place_of(b); });
    for (const NodeId earlier : before_) learn(known, {earlier}, waits);
    if (!is_inside(known)) {
      waits.push_back(nodes_.begin(scope));
      known.merge(at_[nodes_.begin(scope)]);
    }
    for (const NodeId from : waits) waits_.push_back({node, from});
  }
  before_.clear();
  place(node, own);
  known.up_to[own] = next_position_;
  at_[node] = known;
  frame_.previous[own] = node;
  if (!works) return;
  frame_.last[own] = node;
  last_position_[own] = next_position_;
}

void WaitFinder::place(NodeId node, std::uint32_t stream) {
  position_[node] = ++next_position_;
  stream_of_[node] = stream;
}

// -------------------------------------------------------------------------------------------------------------- bodies

void WaitFinder::walk_bodies(OpId op) {
  const NodeId node = nodes_.of(op);
  Frame outer = std::move(frame_);
  outer.with_bodies.push_back(node);
  const State before = now_;
  std::vector<State> after;
  for (const ScopeId body : graph_.bodies(op)) after.push_back(walk_body(body, op, before));
  frame_ = std::move(outer);
  close(op, before, after);
}

WaitFinder::State WaitFinder::walk_body(ScopeId body, OpId op, const State& before) {
  const NodeId node = nodes_.of(op);
  const std::uint32_t own = stream_of_[node];
  const std::uint32_t first = next_position_;
  now_ = before;
  for (std::size_t s = 0; s < streams_; ++s) now_[s].up_to[s] = next_position_;
  at_[nodes_.begin(body)] = at_[node];
  position_[nodes_.begin(body)] = position_[node];
  stream_of_[nodes_.begin(body)] = own;
  walk(body);
  BodyEnd end{std::move(frame_), {}, now_[own], std::vector<bool>(streams_), now_[own], {}};
  const bool copies = has_copies_at_end(body);
  if (copies || graph_.op(op).control == Control::loop) end.needed.assign(streams_, true);
  wait_at_end(end);
  if (copies) {
    place(nodes_.end(body), own);
    end.waited.up_to[own] = next_position_;
    at_[nodes_.end(body)] = end.waited;
    end.frame.last[own] = nodes_.end(body);
    last_position_[own] = next_position_;
  }
  for (const std::uint32_t last : last_position_) end.last.push_back(last > first ? last : 0);
  now_[own] = end.waited;
  exits_.at(node).ends.push_back(std::move(end));
  return std::move(now_);
}

/// What is known behind the bodies.
void WaitFinder::close(OpId op, const State& before, const std::vector<State>& after) {
  const NodeId node = nodes_.of(op);
  Exit& exit = exits_.at(node);
  const std::uint32_t own = stream_of_[node];
  const bool loop = graph_.op(op).control == Control::loop;
  exit.position = ++next_position_;
  now_ = loop ? before : after.front();
  for (std::uint32_t s = 0; s < streams_; ++s) {
    for (const State& each : after) now_[s].meet(each[s]);
    std::erase_if(now_[s].parts, [&](Known::Part each) {
      const ScopeId within = graph_.scope(ScopeId(each / streams_)).parent;
      return within != ScopeId(0) && graph_.scope(within).op == op;
    });
    for (std::uint32_t t = 0; t < streams_; ++t) {
      if (loop && t == own && s != own) continue;  // the last answer may come after the last iteration
      for (std::size_t i = 0; i < after.size(); ++i)
        if (exit.ends[i].last[t] != 0 && (s == t || knows_body(after[i][s], exit.ends[i].frame, t)))
          now_[s].add(part(exit.ends[i].frame.scope, t));
    }
    now_[s].up_to[s] = exit.position;
  }
  at_[node] = now_[own];
}

std::vector<WaitFinder::Need> WaitFinder::needs_at_end(const BodyEnd& end) const {
  std::vector<Need> needs;
  for (std::uint32_t t = 0; t < streams_; ++t) {
    if (!end.needed[t]) continue;
    if (end.frame.last[t] != kNone) needs.push_back({end.frame.last[t], t});
    for (const NodeId op : end.frame.with_bodies) needs.push_back({op, t});
  }
  sort_stably(needs, [&](const Need& a, const Need& b) { return place_of(a.node) > place_of(b.node); });
  return needs;
}

void WaitFinder::wait_at_end(BodyEnd& end) {
  const std::vector<Need> needs = needs_at_end(end);
  end.waited = end.known;
  end.waits.clear();
  if (trial_) {
    const NodeId owner = nodes_.of(graph_.scope(end.frame.scope).op);
    const bool copies = has_copies_at_end(end.frame.scope);
    take_waits(nodes_.end(end.frame.scope), end.waited, [&](const Known& each) {
      return (!copies || is_entered(each, owner)) &&
             std::all_of(needs.begin(), needs.end(), [&](const Need& need) { return knows(each, need); });
    });
    return;
  }
  for (const Need& need : needs) learn(end.waited, need, end.waits);
}

void WaitFinder::provide(Need need, const Known& known) {
  Known& there = at_[need.node];
  Known all;
  for (BodyEnd& end : exits_.at(need.node).ends) {
    const std::vector<bool> before = end.needed;
    for (std::uint32_t t = 0; t < streams_; ++t) {
      if (need.stream != kAll && need.stream != t) continue;
      if (!knows_part(known, end, t) && !knows_part(there, end, t)) end.needed[t] = true;
    }
    if (end.needed != before) wait_at_end(end);
    for (std::uint32_t t = 0; t < streams_; ++t)
      if (end.last[t] != 0 && knows_body(end.waited, end.frame, t)) there.add(part(end.frame.scope, t));
    if (all.up_to.empty()) all = end.waited;
    all.meet(end.waited);
  }
  if (graph_.op(OpId(need.node)).control != Control::loop) there.merge(all);
}

// ----------------------------------------------------------------------------------------------------------- knowledge

void WaitFinder::learn(Known& known, Need need, std::vector<NodeId>& waits) {
  if (knows(known, need)) return;
  if (has_bodies(need.node)) provide(need, known);
  const bool is_behind = known.up_to[stream_of_[need.node]] >= place_of(need.node);
  const bool waits_already = std::find(waits.begin(), waits.end(), need.node) != waits.end();
  if (!is_behind && !waits_already) waits.push_back(need.node);
  known.merge(at_[need.node]);
}

bool WaitFinder::knows(const Known& known, Need need) const {
  const std::uint32_t own = stream_of_[need.node];
  if (!has_bodies(need.node)) return known.up_to[own] >= position_[need.node];
  if (need.stream != kAll) {
    const bool begun = need.stream != own || !exits_.at(need.node).works || known.up_to[own] >= position_[need.node];
    return begun && knows_part(known, need.node, need.stream);
  }
  for (std::uint32_t t = 0; t < streams_; ++t)
    if (!knows_part(known, need.node, t)) return false;
  return is_entered(known, need.node);
}

bool WaitFinder::knows_part(const Known& known, NodeId op, std::uint32_t stream) const {
  const std::vector<BodyEnd>& ends = exits_.at(op).ends;
  return std::all_of(ends.begin(), ends.end(), [&](const BodyEnd& end) { return knows_part(known, end, stream); });
}

bool WaitFinder::knows_part(const Known& known, const BodyEnd& end, std::uint32_t stream) const {
  return known.up_to[stream] >= end.last[stream] || known.has(part(end.frame.scope, stream));
}

bool WaitFinder::is_entered(const Known& known, NodeId op) const {
  if (exits_.at(op).works) return known.up_to[stream_of_[op]] >= position_[op];
  const std::vector<NodeId>& needs = needs_.at(op);
  const ScopeId scope = graph_.scope_of(OpId(op));
  return std::all_of(needs.begin(), needs.end(), [&](NodeId need) { return knows(known, {need}); }) &&
         (scope == ScopeId(0) || is_entered(known, nodes_.of(graph_.scope(scope).op)));
}

bool WaitFinder::knows_body(const Known& known, const Frame& frame, std::uint32_t stream) const {
  if (frame.last[stream] != kNone && !knows(known, {frame.last[stream], stream})) return false;
  return std::all_of(frame.with_bodies.begin(), frame.with_bodies.end(),
                     [&](NodeId op) { return knows_part(known, op, stream); });
}

bool WaitFinder::has_copies_at_end(ScopeId body) const {
  bool copies = false;
  duties_.copies_at_end().visit(body, [&](std::uint32_t i) { copies = copies || duties_.is_made(i, batch_); });
  return copies;
}

bool WaitFinder::has_copies_before(OpId op) const {
  bool copies = false;
  duties_.copies_before().visit(op, [&](std::uint32_t i) { copies = copies || duties_.is_made(i, batch_); });
  return copies;
}

}  // namespace stowage
