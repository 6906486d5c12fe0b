#include <algorithm>
#include <vector>

#include "stowage/pack.hpp"

namespace stowage {
namespace {

/// From `step` on, `bytes` more (or less) are live.
struct Change {
  Step step;
  Bytes must_pay;
  Bytes may_evade;
};

/// Unpaid regions hold what they can; the rest must be paid.
class UnpaidRoom {
 public:
  explicit UnpaidRoom(const Problem& problem) {
    for (std::size_t r = 0; r < problem.regions.size(); ++r) {
      if (problem.regions[r].paid) continue;
      regions_.push_back(r);
      // Bytes in all are within kMaxBytes, so that room for kMaxBytes is room for everything.
      room_ = problem.regions[r].limit ? add_within_limit(room_, *problem.regions[r].limit).value_or(kMaxBytes) : kMaxBytes;
    }
  }

  [[nodiscard]] bool open_to(const Item& item) const {
    return std::any_of(regions_.begin(), regions_.end(), [&](std::size_t r) { return item.allowed.contains(r); });
  }
  [[nodiscard]] Bytes left_to_pay(Bytes may_evade) const { return std::max(Bytes(0), may_evade - room_); }

 private:
  std::vector<std::size_t> regions_;
  Bytes room_;
};

std::vector<Change> changes_of(const Problem& problem, const UnpaidRoom& unpaid) {
  std::vector<Change> changes;
  changes.reserve(2 * problem.items.size());
  const auto add = [&](Interval when, Bytes bytes, bool evades) {
    const Bytes must_pay = evades ? Bytes(0) : bytes;
    const Bytes may_evade = evades ? bytes : Bytes(0);
    changes.push_back({when.lower, must_pay, may_evade});
    changes.push_back({when.upper, Bytes(0) - must_pay, Bytes(0) - may_evade});
  };
  for (const Item& item : problem.items) {
    const bool evades = unpaid.open_to(item);
    if (!problem.order.empty()) {
      add(item.life(), item.size, evades);
      continue;
    }
    for (const Piece& piece : item.pieces) add(piece.when, piece.bytes.length(), evades);
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.step < b.step; });
  return changes;
}

Certificate most_live_bytes(const Problem& problem) {
  const UnpaidRoom unpaid(problem);
  const std::vector<Change> changes = changes_of(problem, unpaid);
  Certificate best{};
  Bytes must_pay;
  Bytes may_evade;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    must_pay += changes[i].must_pay;
    may_evade += changes[i].may_evade;
    if (i + 1 < changes.size() && changes[i + 1].step == changes[i].step) continue;
    const Bytes paid = must_pay + unpaid.left_to_pay(may_evade);
    if (paid > best.bytes) best = {Certificate::Argument::live_bytes, paid, changes[i].step, 0};
  }
  return best;
}

}  // namespace

Certificate lower_bound(const Problem& problem) {
  Certificate best = most_live_bytes(problem);
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (!item.pinned || item.size == Bytes(0)) continue;
    const Certificate pinned{Certificate::Argument::pinned_item, *item.pinned + item.size, {}, i};
    if (pinned.bytes > best.bytes && check_bound(problem, pinned)) best = pinned;
  }
  return best;
}

}  // namespace stowage
