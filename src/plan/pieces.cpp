#include "plan/interface/pieces.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "plan/coverage.hpp"

namespace stowage {
namespace {

/// Joins rectangles of the same bytes whose steps are adjacent or overlap. The result is sorted by bytes, then steps.
std::vector<Piece> join_in_time(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.bytes != b.bytes ? a.bytes < b.bytes : a.when < b.when; });
  std::vector<Piece> joined;
  for (const Piece& piece : pieces) {
    if (!joined.empty() && joined.back().bytes == piece.bytes && piece.when.lower <= joined.back().when.upper) {
      joined.back().when.upper = std::max(joined.back().when.upper, piece.when.upper);
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

std::vector<Bytes> ends_of(const std::vector<Piece>& pieces) {
  std::vector<Bytes> ends;
  for (const Piece& piece : pieces) {
    ends.push_back(piece.bytes.lower);
    ends.push_back(piece.bytes.upper);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

/// Sweeps over the steps at which rectangles begin or end, and maintains the stretches of occupied bytes. Only
/// stretches next to a change are visited: O(log n) per rectangle and per resulting stretch.
class StretchSweep {
 public:
  explicit StretchSweep(const std::vector<Piece>& pieces) : coverage_(ends_of(pieces)) {
    for (const Piece& piece : pieces) {
      if (piece.bytes.empty() || piece.when.empty()) continue;
      boundaries_.push_back({piece.when.lower, true, piece.bytes});
      boundaries_.push_back({piece.when.upper, false, piece.bytes});
    }
    std::sort(boundaries_.begin(), boundaries_.end(), [](const Boundary& a, const Boundary& b) {
      return std::tuple(a.step, a.bytes.lower) < std::tuple(b.step, b.bytes.lower);
    });
  }

  std::vector<Piece> run() && {
    for (std::size_t i = 0; i < boundaries_.size();) {
      std::size_t end = i;
      for (; end < boundaries_.size() && boundaries_[end].step == boundaries_[i].step; ++end) {
        const Boundary& change = boundaries_[end];
        change.begins ? coverage_.add(change.bytes) : coverage_.remove(change.bytes);
      }
      renew(i, end);
      i = end;
    }
    return std::move(slices_);
  }

 private:
  struct Boundary {
    Step step;
    bool begins;
    ByteRange bytes;
  };
  struct OpenStretch {
    Bytes upper;
    Step since;
  };

  /// Handles the changes of one step, in ascending order; adjacent or overlapping ones together.
  void renew(std::size_t begin, std::size_t end) {
    while (begin < end) {
      const Step now = boundaries_[begin].step;
      ByteRange changed = boundaries_[begin].bytes;
      for (++begin; begin < end && boundaries_[begin].bytes.lower <= changed.upper; ++begin)
        changed.upper = std::max(changed.upper, boundaries_[begin].bytes.upper);
      close(changed, now);
      for (const ByteRange& bytes : coverage_.covered(changed))
        open_.emplace(bytes.lower, OpenStretch{bytes.upper, now});
    }
  }

  /// Ends all stretches that overlap the bytes or are adjacent to them, and extends the bytes by these stretches.
  void close(ByteRange& bytes, Step now) {
    auto stretch = open_.upper_bound(bytes.lower);
    if (stretch != open_.begin() && std::prev(stretch)->second.upper >= bytes.lower) --stretch;
    while (stretch != open_.end() && stretch->first <= bytes.upper) {
      const ByteRange closed{stretch->first, stretch->second.upper};
      bytes = {std::min(bytes.lower, closed.lower), std::max(bytes.upper, closed.upper)};
      if (stretch->second.since < now) slices_.push_back({{stretch->second.since, now}, closed});
      stretch = open_.erase(stretch);
    }
  }

  Coverage coverage_;
  std::vector<Boundary> boundaries_;
  std::map<Bytes, OpenStretch> open_;  ///< By lower end: the stretches that are occupied now.
  std::vector<Piece> slices_;
};

}  // namespace

std::vector<Piece> disjoint_pieces(std::vector<Piece> rectangles) {
  const std::vector<Piece> joined = join_in_time(std::move(rectangles));
  if (joined.size() == 1) return joined;
  std::vector<Piece> result = join_in_time(StretchSweep(joined).run());
  if (result.empty()) return {joined.front()};  // of size 0: only its steps matter
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace stowage
