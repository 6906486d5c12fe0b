#include "pack/bounds/bound.hpp"

#include <algorithm>

#include "stowage/pack.hpp"

namespace stowage {
namespace pack {

Bytes Chunk::alignment(const Problem& problem) const {
  Bytes alignment = problem.items[item].alignment;
  while (!is_aligned(bytes.lower, alignment)) alignment = Bytes(alignment.value() / 2);
  return alignment;
}

void append_chunks(const Problem& problem, std::size_t item, std::vector<Chunk>& chunks) {
  const Item& it = problem.items[item];
  const auto append = [&](Interval when, ByteRange bytes) {
    if (!bytes.empty()) chunks.push_back({item, when, bytes});
  };
  if (!problem.order.empty()) {
    append(it.life(), {Bytes(0), it.size});
    return;
  }
  for (const Piece& piece : it.pieces) append(piece.when, piece.bytes);
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
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.step < b.step; });
  return changes;
}

Certificate most_live_bytes(const Problem& problem) {
  const UnpaidRoom unpaid(problem);
  const std::vector<Change> changes = changes_of(problem);
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
  return pack::pinned_gaps_bound(problem, pack::aligned_offsets_bound(problem, best));
}

}  // namespace stowage
