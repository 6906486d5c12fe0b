#include "pack/bounds/bound.hpp"

#include <algorithm>
#include <map>

#include "base/interface/interval_map.hpp"
#include "pack/interface/unordered_items.hpp"
#include "plan/interface/join_savings.hpp"
#include "stowage/pack.hpp"

namespace stowage {
namespace pack {
namespace {

/// Appends what is left of a chunk outside some steps.
void append_rest(Chunk chunk, std::vector<Interval> without, std::vector<Chunk>& result) {
  std::sort(without.begin(), without.end());
  for (const Interval& steps : without) {
    if (steps.upper <= chunk.when.lower || chunk.when.upper <= steps.lower) continue;
    if (chunk.when.lower < steps.lower) result.push_back({chunk.item, {chunk.when.lower, steps.lower}, chunk.bytes});
    chunk.when.lower = steps.upper;
  }
  if (chunk.when.lower < chunk.when.upper) result.push_back(chunk);
}

}  // namespace

Bytes Chunk::alignment(const Problem& problem) const {
  Bytes alignment = problem.items[item].alignment;
  while (!is_aligned(bytes.lower, alignment)) alignment = Bytes(alignment.value() / 2);
  return alignment;
}

void append_chunks(const Problem& problem, std::size_t item, std::vector<Chunk>& chunks) {
  for (const Piece& piece : problem.items[item].pieces) {
    if (!piece.bytes.empty()) chunks.push_back({item, piece.when, piece.bytes});
  }
}

void separate_joined(const Problem& problem, std::vector<Chunk>& chunks) {
  if (problem.joins.empty()) return;
  std::map<std::size_t, std::vector<Interval>> shared;  // by item
  for (const plan::SharedByJoin& each : plan::shared_by_joins(problem)) shared[each.later].push_back(each.when);
  std::vector<Chunk> result;
  for (const Chunk& chunk : chunks) {
    const auto found = shared.find(chunk.item);
    append_rest(chunk, found == shared.end() ? std::vector<Interval>() : found->second, result);
  }
  chunks = std::move(result);
}

Bytes touched_bytes(const Item& item) {
  if (item.pieces.size() == 1) return item.pieces.front().bytes.length();
  IntervalMap<char> touched;
  for (const Piece& piece : item.pieces) touched.assign(piece.bytes, 1);
  Bytes sum;
  touched.visit({Bytes(0), item.size}, [&](ByteRange range, char) { sum += range.length(); });
  return sum;
}

std::vector<ChunkEvent> events_of(const std::vector<Chunk>& chunks) {
  std::vector<ChunkEvent> events;
  events.reserve(2 * chunks.size());
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    events.push_back({chunks[c].when.lower, true, c});
    events.push_back({chunks[c].when.upper, false, c});
  }
  std::sort(events.begin(), events.end(), [](const ChunkEvent& a, const ChunkEvent& b) {
    if (a.step != b.step) return a.step < b.step;
    return a.begins != b.begins ? b.begins : a.chunk < b.chunk;
  });
  return events;
}

bool may_evade(const Problem& problem, const Item& item) {
  for (std::size_t r = 0; r < problem.regions.size(); ++r) {
    if (!problem.regions[r].paid && item.may_lie_in(r)) return true;
  }
  return false;
}

}  // namespace pack

namespace {

/// A change of the live bytes at `step`.
struct Change {
  Step step;
  Bytes must_pay;
  Bytes may_evade;
};

/// Unpaid regions hold as much as they can; the rest must be paid for.
class UnpaidRoom {
 public:
  explicit UnpaidRoom(const Problem& problem) {
    for (std::size_t r = 0; r < problem.regions.size(); ++r) {
      if (problem.regions[r].paid) continue;
      // All bytes together are within kMaxBytes, so room for kMaxBytes is room for everything.
      room_ =
          problem.regions[r].limit ? add_within_limit(room_, *problem.regions[r].limit).value_or(kMaxBytes) : kMaxBytes;
    }
  }

  [[nodiscard]] Bytes left_to_pay(Bytes may_evade) const { return std::max(Bytes(0), may_evade - room_); }

 private:
  Bytes room_;
};

std::vector<Change> changes_of(const Problem& problem) {
  std::vector<Change> changes;
  changes.reserve(2 * problem.items.size());
  std::vector<pack::Chunk> chunks;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const bool evades = pack::may_evade(problem, problem.items[i]);
    chunks.clear();
    pack::append_chunks(problem, i, chunks);
    for (const pack::Chunk& chunk : chunks) {
      const Bytes must_pay = evades ? Bytes(0) : chunk.bytes.length();
      const Bytes may_evade = evades ? chunk.bytes.length() : Bytes(0);
      changes.push_back({chunk.when.lower, must_pay, may_evade});
      changes.push_back({chunk.when.upper, Bytes(0) - must_pay, Bytes(0) - may_evade});
    }
  }
  return changes;
}

/// What joins can save, step by step in ascending order.
class Savings {
 public:
  explicit Savings(const Problem& problem) : problem_(problem), shared_(plan::shared_by_joins(problem)) {
    std::sort(shared_.begin(), shared_.end(),
              [](const plan::SharedByJoin& a, const plan::SharedByJoin& b) { return a.when.lower < b.when.lower; });
  }

  /// Steps at which something begins or ends to be shared.
  void append_changes(std::vector<Change>& changes) const {
    for (const plan::SharedByJoin& each : shared_) {
      changes.push_back({each.when.lower, Bytes(0), Bytes(0)});
      changes.push_back({each.when.upper, Bytes(0), Bytes(0)});
    }
  }

  /// Precondition: no call before was for a later step.
  Bytes at(Step step) {
    std::erase_if(now_, [&](const plan::SharedByJoin& each) { return each.when.upper <= step; });
    for (; next_ < shared_.size() && shared_[next_].when.lower <= step; ++next_) {
      if (shared_[next_].when.contains(step)) now_.push_back(shared_[next_]);
    }
    return now_.empty() ? Bytes(0) : plan::most_saved(problem_, now_, effort_);
  }

 private:
  const Problem& problem_;
  std::vector<plan::SharedByJoin> shared_;
  std::size_t next_ = 0;
  std::vector<plan::SharedByJoin> now_;
  std::size_t effort_ = plan::kSavingsEffort;
};

Certificate most_live_bytes(const Problem& problem) {
  const UnpaidRoom unpaid(problem);
  Savings savings(problem);
  std::vector<Change> changes = changes_of(problem);
  savings.append_changes(changes);
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.step < b.step; });
  Certificate best{};
  Bytes must_pay;
  Bytes may_evade;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    must_pay += changes[i].must_pay;
    may_evade += changes[i].may_evade;
    if (i + 1 < changes.size() && changes[i + 1].step == changes[i].step) continue;
    const Bytes saved = savings.at(changes[i].step);
    const Bytes paid = must_pay + unpaid.left_to_pay(may_evade) - saved;
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
  return pack::pinned_gaps_bound(problem, pack::aligned_offsets_bound(problem, best));
}

}  // namespace stowage
