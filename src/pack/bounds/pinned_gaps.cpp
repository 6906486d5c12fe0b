#include <algorithm>
#include <bit>
#include <queue>
#include <span>

#include "pack/bounds/bound.hpp"

namespace stowage::pack {
namespace {

/// A step, and the end of all its unpinned bytes stacked on its highest pin.
struct Promise {
  Step step;
  Bytes most;
};

/// The unpinned chunks of one step that are at least as large as some chunk.
struct Class {
  std::size_t item;  ///< The item of the smallest chunk.
  Bytes least;       ///< The size of the smallest chunk.
  Bytes total;
  Bytes alignment;  ///< The smallest.
};

auto magnitude(Bytes bytes) { return std::bit_width(static_cast<std::uint64_t>(bytes.value())); }

/// The height at which the gaps of at least `least` bytes between the ranges `taken` (ascending) have room for the
/// whole class.
Bytes height_for(const Class& needs, std::span<const ByteRange> taken) {
  Bytes left = needs.total;
  Bytes from;
  for (const ByteRange& range : taken) {
    const Bytes length = range.lower - align_up(from, needs.alignment);
    if (length >= needs.least) {
      if (left <= length) break;
      left -= length;
    }
    from = std::max(from, range.upper);
  }
  return align_up(from, needs.alignment) + std::max(left, needs.least);
}

class Gaps {
 public:
  explicit Gaps(const Problem& problem) : problem_(problem) {
    for (std::size_t i = 0; i < problem.items.size(); ++i) append_chunks(problem, i, chunks_);
    separate_joined(problem, chunks_);
    for (const Item& item : problem.items) largest_alignment_ = std::max(largest_alignment_, item.alignment);
  }

  Certificate improve(Certificate best) {
    std::vector<Promise> promises = find_promises();
    std::sort(promises.begin(), promises.end(),
              [](const Promise& a, const Promise& b) { return a.most != b.most ? a.most > b.most : a.step < b.step; });
    if (promises.size() > kGapSteps) promises.resize(kGapSteps);
    for (const Promise& promise : promises) {
      if (promise.most + largest_alignment_ <= best.bytes) break;
      best = improve_at(promise.step, best);
    }
    return best;
  }

 private:
  [[nodiscard]] const std::optional<Bytes>& pin(const Chunk& chunk) const { return problem_.items[chunk.item].pinned; }

  /// The last steps before something ends; every other step is covered by one of these.
  std::vector<Promise> find_promises() const {
    std::vector<Promise> promises;
    std::priority_queue<std::pair<Bytes, Step>> pinned;  // by end: the top, and the step at which the pin ends
    Bytes unpinned;
    bool grown = false;
    Step last;
    for (const ChunkEvent& event : events_of(chunks_)) {
      const Chunk& chunk = chunks_[event.chunk];
      if (event.begins) {
        if (pin(chunk))
          pinned.push({*pin(chunk) + chunk.bytes.upper, chunk.when.upper});
        else
          unpinned += chunk.bytes.length();
        last = event.step;
      } else {
        while (!pinned.empty() && pinned.top().second <= last) pinned.pop();
        if (grown && !pinned.empty() && unpinned > Bytes(0)) promises.push_back({last, pinned.top().first + unpinned});
        if (!pin(chunk)) unpinned -= chunk.bytes.length();
      }
      grown = event.begins;
    }
    return promises;
  }

  [[nodiscard]] Certificate improve_at(Step step, Certificate best) const {
    std::vector<ByteRange> taken;
    std::vector<const Chunk*> others;
    for (const Chunk& chunk : chunks_) {
      if (!chunk.when.contains(step)) continue;
      if (pin(chunk))
        taken.push_back({*pin(chunk) + chunk.bytes.lower, *pin(chunk) + chunk.bytes.upper});
      else
        others.push_back(&chunk);
    }
    std::sort(taken.begin(), taken.end());
    std::sort(others.begin(), others.end(), [](const Chunk* a, const Chunk* b) {
      const Bytes length_a = a->bytes.length();
      const Bytes length_b = b->bytes.length();
      return length_a != length_b ? length_a > length_b : a->item < b->item;
    });
    for (const Class& each : classes_of(others)) {
      const Certificate gaps{Certificate::Argument::pinned_gaps, height_for(each, taken), step, each.item};
      // In a certificate, an item with several chunks stands for its smallest one; here another one may have been
      // meant.
      if (gaps.bytes > best.bytes && check_bound(problem_, gaps)) best = gaps;
    }
    return best;
  }

  /// From the largest chunk down, one class per power of two. One class per size would be many, and neighbouring ones
  /// give nearly the same bound.
  [[nodiscard]] std::vector<Class> classes_of(std::span<const Chunk* const> descending) const {
    std::vector<Class> classes;
    Class all{0, Bytes(0), Bytes(0), kMaxBytes};
    for (std::size_t i = 0; i < descending.size(); ++i) {
      const Chunk& chunk = *descending[i];
      all = {chunk.item, chunk.bytes.length(), all.total + chunk.bytes.length(),
             std::min(all.alignment, chunk.alignment(problem_))};
      const bool last = i + 1 == descending.size();
      if (last || magnitude(descending[i + 1]->bytes.length()) < magnitude(all.least)) classes.push_back(all);
    }
    return classes;
  }

  const Problem& problem_;
  std::vector<Chunk> chunks_;
  Bytes largest_alignment_;
};

}  // namespace

Certificate pinned_gaps_bound(const Problem& problem, Certificate best) {
  const bool any_pin =
      std::any_of(problem.items.begin(), problem.items.end(), [](const Item& item) { return item.pinned.has_value(); });
  if (!any_pin || problem.regions.size() != 1 || !problem.regions.front().paid) return best;
  return Gaps(problem).improve(best);
}

}  // namespace stowage::pack
