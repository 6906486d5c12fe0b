#include "verify/sync.hpp"

#include <algorithm>
#include <utility>

namespace stowage::verification {

void Sync::judge(const Reports& reports) {
  judging_ = true;
  pending_.assign(streams_, {});
  base_.assign(streams_, {});
  const bool in_order = run(kAll, &reports);
  settle_all(reports);
  judging_ = false;
  if (!in_order) return;
  std::sort(doubtful_.begin(), doubtful_.end());
  for (const std::size_t at : doubtful_) {
    if (run(at, nullptr)) reports.needless(acts_[at]);
  }
  check_records(reports);
}

void Sync::reset() {
  now_ = 0;
  views_.assign(streams_, {std::vector<Moment>(streams_), {}});
  frames_.assign(1, {std::nullopt, 0, std::vector<Moment>(streams_), {}});
  open_.clear();
  opened_.clear();
  at_.assign(demand_.actors(), 0);
  stream_of_.resize(demand_.actors());
}

bool Sync::run(std::size_t without, const Reports* reports) {
  reset();
  bool in_order = true;
  for (std::size_t at = 0; at < acts_.size(); ++at) {
    const Act& act = acts_[at];
    if (at == without) continue;
    if (act.kind == Act::Kind::wait) {
      wait(at);
      continue;
    }
    const bool checked = act.kind == Act::Kind::start || act.kind == Act::Kind::join;
    if (checked && !allows(views_[act.stream], act, reports)) in_order = false;
    if (!in_order && !reports) return false;
    const bool between = act.kind == Act::Kind::enter || act.kind == Act::Kind::leave || act.kind == Act::Kind::close;
    if (judging_ && between) settle_all(*reports);
    if (judging_ && !between && act.kind != Act::Kind::finish) settle(act.stream, checked ? &act : nullptr, *reports);
    take(act);
  }
  return in_order;
}

void Sync::take(const Act& act) {
  switch (act.kind) {
    case Act::Kind::start:
    case Act::Kind::wait:
    case Act::Kind::join:
      return;
    case Act::Kind::finish:
      return finish(act);
    case Act::Kind::record:
      if (act.subject >= events_.size()) events_.resize(act.subject + 1);
      events_[act.subject] = views_[act.stream];
      return;
    case Act::Kind::open:
      return open(act);
    case Act::Kind::enter:
      return enter(act);
    case Act::Kind::copy:
      return tick(act.stream);
    case Act::Kind::leave:
      return leave();
    case Act::Kind::close:
      return close();
  }
}

void Sync::finish(const Act& act) {
  tick(act.stream);
  at_[act.subject] = now_;
  stream_of_[act.subject] = act.stream;
}

/// Something happens in the current body.
void Sync::tick(std::uint32_t stream) {
  views_[stream].over[stream] = ++now_;
  frames_.back().last[stream] = now_;
}

// -------------------------------------------------------------------------------------------------------------- bodies

void Sync::open(const Act& act) {
  frames_.back().inner.push_back(act.subject);
  opened_[act.subject] = {act, frames_.back().owner, views_, {}};
  open_.push_back(act.subject);
}

void Sync::enter(const Act& act) {
  views_ = opened_.at(open_.back()).before;
  for (std::size_t s = 0; s < streams_; ++s) views_[s].over[s] = now_;
  frames_.push_back({open_.back(), act.subject, std::vector<Moment>(streams_), {}});
}

void Sync::leave() {
  BodyEnd end{frames_.back(), frames_.back().last, views_};
  for (const ActorId inner : end.frame.inner) {
    for (const BodyEnd& each : opened_.at(inner).ends)
      for (std::size_t s = 0; s < streams_; ++s) end.last[s] = std::max(end.last[s], each.last[s]);
  }
  opened_.at(open_.back()).ends.push_back(std::move(end));
  frames_.pop_back();
}

void Sync::close() {
  const Opened& op = opened_.at(open_.back());
  ++now_;
  for (std::uint32_t s = 0; s < streams_; ++s) views_[s] = view_behind(op, s);
  open_.pop_back();
}

Sync::View Sync::view_behind(const Opened& op, std::uint32_t stream) const {
  const bool loop = op.act.control == Control::loop;
  View view = loop ? op.before[stream] : op.ends.front().views[stream];
  for (const BodyEnd& end : op.ends) {
    const View& other = end.views[stream];
    for (std::size_t s = 0; s < streams_; ++s) view.over[s] = std::min(view.over[s], other.over[s]);
    std::erase_if(view.shares, [&](const Share& share) { return !other.shares.contains(share); });
  }
  for (const BodyEnd& end : op.ends) {
    for (const ActorId inner : end.frame.inner)
      for (const BodyEnd& each : opened_.at(inner).ends)
        std::erase_if(view.shares, [&](const Share& share) { return share.first == each.frame.body; });
    for (std::uint32_t s = 0; s < streams_; ++s) {
      // After its last iteration a loop may look once more whether it goes on.
      const bool looks = loop && s == op.act.stream && s != stream;
      const bool over = s == stream || is_over(end.views[stream], end.frame, s);
      if (end.last[s] != 0 && over && !looks) view.shares.insert({end.frame.body, s});
    }
  }
  view.over[stream] = now_;
  return view;
}

// --------------------------------------------------------------------------------------------------------------- order

bool Sync::allows(const View& view, const Act& act, const Reports* reports) const {
  bool all = true;
  const auto lack = [&](std::optional<ActorId> early) {
    all = false;
    if (reports) reports->unordered(act, early);
  };
  if (act.kind == Act::Kind::join) {
    for (std::uint32_t s = 0; s < streams_ && all; ++s)
      if (s != act.stream && !is_over(view, frames_.back(), s)) lack(std::nullopt);
    if (all && !is_entered(view, *frames_.back().owner)) lack(frames_.back().owner);
    return all;
  }
  for (const ActorId early : demand_.before(act.subject))
    if (!is_over(view, early)) lack(early);
  const std::optional<ActorId> owner = frames_.back().owner;
  if (owner && !is_entered(view, *owner)) lack(std::nullopt);
  return all;
}

bool Sync::is_over(const View& view, ActorId actor) const {
  const auto opened = opened_.find(actor);
  if (opened == opened_.end()) return at_[actor] != 0 && view.over[stream_of_[actor]] >= at_[actor];
  for (const BodyEnd& end : opened->second.ends) {
    for (std::uint32_t s = 0; s < streams_; ++s)
      if (!is_over(view, end, s)) return false;
  }
  return is_entered(view, actor);
}

bool Sync::is_over(const View& view, const BodyEnd& end, std::uint32_t stream) {
  return view.over[stream] >= end.last[stream] || view.shares.contains({end.frame.body, stream});
}

bool Sync::is_over(const View& view, const Frame& frame, std::uint32_t stream) const {
  if (view.over[stream] < frame.last[stream]) return false;
  for (const ActorId inner : frame.inner) {
    for (const BodyEnd& end : opened_.at(inner).ends)
      if (!is_over(view, end, stream)) return false;
  }
  return true;
}

/// Whether everything is known that precedes the bodies of an op: what it does itself, or, if that is nothing, what it
/// comes after.
bool Sync::is_entered(const View& view, ActorId owner) const {
  const Opened& op = opened_.at(owner);
  if (op.act.works) return view.over[op.act.stream] >= at_[owner];
  const std::span<const ActorId> before = demand_.before(owner);
  return std::all_of(before.begin(), before.end(), [&](ActorId early) { return is_over(view, early); }) &&
         (!op.outer || is_entered(view, *op.outer));
}

void Sync::merge(View& view, const View& other) {
  for (std::size_t s = 0; s < view.over.size(); ++s) view.over[s] = std::max(view.over[s], other.over[s]);
  view.shares.insert(other.shares.begin(), other.shares.end());
}

bool Sync::covers(const View& view, const View& other) {
  for (std::size_t s = 0; s < view.over.size(); ++s)
    if (view.over[s] < other.over[s]) return false;
  return std::includes(view.shares.begin(), view.shares.end(), other.shares.begin(), other.shares.end());
}

// --------------------------------------------------------------------------------------------------------------- waits

void Sync::wait(std::size_t at) {
  const Act& act = acts_[at];
  if (judging_) {
    if (pending_[act.stream].empty()) base_[act.stream] = views_[act.stream];
    pending_[act.stream].push_back(at);
  }
  merge(views_[act.stream], events_[act.subject]);
}

void Sync::settle_all(const Reports& reports) {
  for (std::uint32_t s = 0; s < streams_; ++s) settle(s, nullptr, reports);
}

/// Judges the waits of a stream since its last other act, in front of `behind`, if that needs to know something.
void Sync::settle(std::uint32_t stream, const Act* behind, const Reports& reports) {
  std::vector<std::size_t> waits = std::exchange(pending_[stream], {});
  for (const std::size_t at : waits) {
    View without = base_[stream];
    for (const std::size_t other : waits)
      if (other != at) merge(without, events_[acts_[other].subject]);
    if (covers(without, events_[acts_[at].subject])) {
      reports.needless(acts_[at]);
    } else if (!behind || allows(without, *behind, nullptr)) {
      doubtful_.push_back(at);
    }
  }
}

void Sync::check_records(const Reports& reports) const {
  std::vector<std::uint32_t> awaited;
  for (const Act& act : acts_)
    if (act.kind == Act::Kind::wait) awaited.push_back(act.subject);
  std::sort(awaited.begin(), awaited.end());
  for (const Act& act : acts_) {
    const bool idle = act.kind == Act::Kind::record && !std::binary_search(awaited.begin(), awaited.end(), act.subject);
    if (idle) reports.needless(act);
  }
}

}  // namespace stowage::verification
