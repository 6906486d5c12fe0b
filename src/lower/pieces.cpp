#include "lower/pieces.hpp"

#include <algorithm>

namespace stowage {
namespace {

/// Joins rectangles of the same bytes whose steps touch or overlap. Leaves them sorted by bytes, then steps.
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

/// The union of the byte ranges that are occupied throughout `when`, ascending and disjoint.
std::vector<ByteRange> occupied_during(const std::vector<Piece>& pieces, Interval when) {
  std::vector<ByteRange> ranges;
  for (const Piece& piece : pieces) {
    if (piece.when.contains(when) && !piece.bytes.empty()) ranges.push_back(piece.bytes);
  }
  std::sort(ranges.begin(), ranges.end());
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (!merged.empty() && range.lower <= merged.back().upper) {
      merged.back().upper = std::max(merged.back().upper, range.upper);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

std::vector<Step> boundaries(const std::vector<Piece>& pieces) {
  std::vector<Step> steps;
  for (const Piece& piece : pieces) {
    steps.push_back(piece.when.lower);
    steps.push_back(piece.when.upper);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace

std::vector<Piece> disjoint_pieces(std::vector<Piece> rectangles) {
  const std::vector<Piece> joined = join_in_time(std::move(rectangles));
  if (joined.size() == 1) return joined;
  const std::vector<Step> steps = boundaries(joined);
  std::vector<Piece> slices;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const Interval when{steps[i], steps[i + 1]};
    for (const ByteRange& bytes : occupied_during(joined, when)) slices.push_back({when, bytes});
  }
  if (slices.empty()) return {joined.front()};  // of size 0: keeps its place in time
  std::vector<Piece> result = join_in_time(std::move(slices));
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace stowage
