#include "verify/sync.hpp"

#include <algorithm>

namespace stowage::verification {

void Sync::judge(const Reports& reports) {
  judging_ = true;
  pending_.assign(streams_, {});
  base_.assign(streams_, {});
  const bool in_order = run(kAll, &reports);
  for (std::uint32_t s = 0; s < streams_; ++s) settle(s, false, reports);
  judging_ = false;
  if (!in_order) return;
  std::sort(doubtful_.begin(), doubtful_.end());
  for (const std::size_t at : doubtful_) {
    if (run(at, nullptr)) reports.needless(acts_[at]);
  }
  check_records(reports);
}

void Sync::reset() {
  rows_.assign(streams_ * streams_, 0);
  event_rows_.clear();
  for (const Act& act : acts_)
    if (act.kind == Act::Kind::finish) positions_.of[act.subject] = 0;
  entered_on_.reset();
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
    if (act.kind == Act::Kind::start || act.kind == Act::Kind::leave) in_order = check(act, reports) && in_order;
    if (!in_order && !reports) return false;
    if (judging_ && act.kind != Act::Kind::finish) settle(act.stream, act.kind != Act::Kind::record, *reports);
    if (act.kind == Act::Kind::enter || act.kind == Act::Kind::finish) ++row(act.stream)[act.stream];
    if (act.kind == Act::Kind::enter) entered_on_ = act.stream;
    if (act.kind == Act::Kind::finish) {
      positions_.of[act.subject] = row(act.stream)[act.stream];
      positions_.stream[act.subject] = act.stream;
    }
    if (act.kind == Act::Kind::record) {
      positions_.event_at[act.subject] = event_rows_.size();
      event_rows_.insert(event_rows_.end(), row(act.stream), row(act.stream) + streams_);
    }
  }
  return in_order;
}

/// Leaves the needs of the act in `needs_`.
bool Sync::check(const Act& act, const Reports* reports) {
  list_needs(act);
  const Clock* const known = row(act.stream);
  if (act.kind == Act::Kind::leave) {
    const bool over = std::all_of(needs_.begin(), needs_.end(),
                                  [&](const Need& need) { return known[need.stream] >= need.position; });
    if (!over && reports) reports->unordered(act, std::nullopt);
    return over;
  }
  bool in_order = true;
  for (const ActorId early : demand_.before(act.subject)) {
    if (positions_.of[early] != 0 && known[positions_.stream[early]] >= positions_.of[early]) continue;
    in_order = false;
    if (reports) reports->unordered(act, early);
  }
  const bool entered = !entered_on_ || known[*entered_on_] >= 1;
  if (!entered && reports) reports->unordered(act, std::nullopt);
  return in_order && entered;
}

void Sync::list_needs(const Act& act) {
  needs_.clear();
  if (act.kind == Act::Kind::leave) {
    for (std::uint32_t s = 0; s < streams_; ++s) needs_.push_back({s, row(s)[s]});
    return;
  }
  for (const ActorId early : demand_.before(act.subject))
    needs_.push_back({positions_.stream[early], positions_.of[early]});
  if (entered_on_) needs_.push_back({*entered_on_, 1});
}

void Sync::wait(std::size_t at) {
  const Act& act = acts_[at];
  Clock* const known = row(act.stream);
  if (judging_) {
    if (pending_[act.stream].empty()) base_[act.stream].assign(known, known + streams_);
    pending_[act.stream].push_back(at);
  }
  const Clock* const brought = event(act.subject);
  for (std::size_t s = 0; s < streams_; ++s) known[s] = std::max(known[s], brought[s]);
}

/// Judges the waits of a stream since its last other act, in front of one that needs what is in `needs_`.
void Sync::settle(std::uint32_t stream, bool needed_here, const Reports& reports) {
  std::vector<std::size_t>& waits = pending_[stream];
  if (waits.empty()) return;
  // What would be known without each wait: by the clock in front of them, those before it, and those after it.
  std::vector<Clock> after((waits.size() + 1) * streams_, 0);
  for (std::size_t w = waits.size(); w-- > 0;) {
    const Clock* const brought = event(acts_[waits[w]].subject);
    for (std::size_t s = 0; s < streams_; ++s)
      after[w * streams_ + s] = std::max(after[(w + 1) * streams_ + s], brought[s]);
  }
  std::vector<Clock>& before = base_[stream];
  for (std::size_t w = 0; w < waits.size(); ++w) {
    const auto known = [&](std::size_t s) { return std::max(before[s], after[(w + 1) * streams_ + s]); };
    const Clock* const brought = event(acts_[waits[w]].subject);
    bool brings = false;
    for (std::size_t s = 0; s < streams_; ++s) brings = brings || brought[s] > known(s);
    const bool needed = needed_here && std::any_of(needs_.begin(), needs_.end(), [&](const Need& need) {
                          return need.stream != stream && need.position > known(need.stream);
                        });
    if (!brings) {
      reports.needless(acts_[waits[w]]);
    } else if (!needed) {
      doubtful_.push_back(waits[w]);
    }
    for (std::size_t s = 0; s < streams_; ++s) before[s] = std::max(before[s], brought[s]);
  }
  waits.clear();
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
