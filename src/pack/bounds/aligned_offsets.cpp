#include <algorithm>
#include <queue>

#include "pack/bounds/bound.hpp"

namespace stowage::pack {
namespace {

Bytes pad_of(const Chunk& chunk, Bytes a) { return align_up(chunk.bytes.length(), a) - chunk.bytes.length(); }

/// What the topmost chunks may save: the largest paddings of live chunks. Ended ones are dropped when they reach the
/// top.
class Pads {
 public:
  explicit Pads(std::size_t regions) : regions_(regions) {}

  void add(Bytes pad, Step end) { heap_.push({pad, end}); }
  Bytes largest(Step now) {
    std::vector<Pad> largest;
    Bytes sum;
    while (!heap_.empty() && largest.size() < regions_) {
      if (heap_.top().end > now) {
        largest.push_back(heap_.top());
        sum += largest.back().pad;
      }
      heap_.pop();
    }
    for (const Pad& pad : largest) heap_.push(pad);
    return sum;
  }

 private:
  struct Pad {
    Bytes pad;
    Step end;
    friend bool operator<(const Pad& a, const Pad& b) { return a.pad < b.pad; }
  };
  std::size_t regions_;
  std::priority_queue<Pad> heap_;
};

class AlignedOffsets {
 public:
  explicit AlignedOffsets(const Problem& problem) {
    for (std::size_t i = 0; i < problem.items.size(); ++i) {
      const Item& item = problem.items[i];
      if (item.alignment == Bytes(1) || may_evade(problem, item)) continue;
      append_chunks(problem, i, chunks_);
      const bool known =
          std::any_of(alike_.begin(), alike_.end(), [&](const Alike& a) { return a.alignment == item.alignment; });
      if (!known) alike_.push_back({item.alignment, i});
    }
    separate_joined(problem, chunks_);
    for (const Chunk& chunk : chunks_) alignment_.push_back(chunk.alignment(problem));
    for (const Region& region : problem.regions) paid_regions_ += region.paid;
  }

  Certificate improve(Certificate best) {
    for (const Alike& alike : alike_) {
      bool any_pad = false;
      for (std::size_t c = 0; c < chunks_.size() && !any_pad; ++c)
        any_pad = alignment_[c] >= alike.alignment && pad_of(chunks_[c], alike.alignment) > Bytes(0);
      if (any_pad) best = improve_with(alike, best);
    }
    return best;
  }

 private:
  /// An alignment and the first item that has it.
  struct Alike {
    Bytes alignment;
    std::size_t item;
  };

  Certificate improve_with(const Alike& alike, Certificate best) {
    if (events_.empty()) events_ = events_of(chunks_);
    const Bytes a = alike.alignment;
    Bytes rounded;
    Pads pads(paid_regions_);
    for (const ChunkEvent& event : events_) {
      if (alignment_[event.chunk] < a) continue;
      const Chunk& chunk = chunks_[event.chunk];
      if (!event.begins) {
        rounded -= align_up(chunk.bytes.length(), a);
        continue;
      }
      rounded += align_up(chunk.bytes.length(), a);
      pads.add(pad_of(chunk, a), chunk.when.upper);
      if (rounded <= best.bytes) continue;
      const Bytes bytes = rounded - pads.largest(event.step);
      if (bytes > best.bytes) best = {Certificate::Argument::aligned_offsets, bytes, event.step, alike.item};
    }
    return best;
  }

  std::vector<Chunk> chunks_;
  std::vector<Bytes> alignment_;    ///< By chunk.
  std::vector<Alike> alike_;        ///< At most one per power of two.
  std::vector<ChunkEvent> events_;  ///< Computed on first use.
  std::size_t paid_regions_ = 0;
};

}  // namespace

Certificate aligned_offsets_bound(const Problem& problem, Certificate best) {
  return AlignedOffsets(problem).improve(best);
}

}  // namespace stowage::pack
