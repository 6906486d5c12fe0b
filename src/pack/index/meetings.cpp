#include <algorithm>
#include <numeric>

#include "pack/index/occupancy.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

/// When a piece may meet others.
struct PieceSpan {
  Step begin;
  Step end;
  std::uint32_t item;
  std::uint32_t piece;
  std::size_t row;  ///< With stream order.
};

std::vector<PieceSpan> spans_of(const Problem& problem) {
  std::vector<PieceSpan> spans;
  spans.reserve(problem.items.size());
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    const std::vector<Piece>& pieces = problem.items[i].pieces;
    for (std::uint32_t p = 0; p < pieces.size(); ++p) {
      const Interval span = span_of(problem, i, pieces[p]);
      spans.push_back({span.lower, span.upper, i, p, row_of(pieces[p], i)});
    }
  }
  std::sort(spans.begin(), spans.end(), [](const PieceSpan& a, const PieceSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.item < b.item;
  });
  return spans;
}

/// The number of pairs of spans that overlap in time: each span meets those that begin while it lasts.
std::size_t count_overlaps(const std::vector<PieceSpan>& spans) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto last = std::partition_point(spans.begin() + static_cast<std::ptrdiff_t>(i) + 1, spans.end(),
                                           [&](const PieceSpan& span) { return span.begin < spans[i].end; });
    count += static_cast<std::size_t>(last - spans.begin()) - i - 1;
  }
  return count;
}

/// Calls `f` for each meeting. Of two spans only the earlier can come before the later, so only that direction is
/// tested.
template <class F>
void for_each_meeting(const Problem& problem, const StreamUses& uses, const std::vector<PieceSpan>& spans, F&& f) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    for (std::size_t j = i + 1; j < spans.size() && spans[j].begin < spans[i].end; ++j) {
      if (spans[i].item == spans[j].item) continue;
      if (!problem.order.empty() && uses.before(spans[i].row, spans[j].row)) continue;
      f(spans[i], spans[j]);
    }
  }
}

}  // namespace

Step latest_threshold(const StreamOrder& order, std::size_t row) {
  Step latest(0);
  for (std::size_t stream = 0; stream < order.streams; ++stream)
    latest = std::max(latest, order.threshold[row * order.streams + stream]);
  return latest;
}

Interval span_of(const Problem& problem, std::size_t item, const Piece& piece) {
  if (problem.order.empty()) return piece.when;
  const Step begin = piece.row == Piece::kOwnRow ? problem.items[item].life().lower : piece.when.lower;
  return {begin, latest_threshold(problem.order, row_of(piece, item))};
}

std::optional<Meetings> Meetings::find(const Problem& problem, std::size_t limit) {
  const std::vector<PieceSpan> spans = spans_of(problem);
  if (count_overlaps(spans) > limit) return std::nullopt;

  const StreamUses uses(problem.order);
  Meetings result;
  result.begin_.assign(problem.items.size() + 1, 0);
  for_each_meeting(problem, uses, spans, [&](const PieceSpan& a, const PieceSpan& b) {
    ++result.begin_[a.item + 1];
    ++result.begin_[b.item + 1];
  });
  for (const ApartPair& pair : problem.apart) {
    ++result.begin_[pair.a + 1];
    ++result.begin_[pair.b + 1];
  }
  std::partial_sum(result.begin_.begin(), result.begin_.end(), result.begin_.begin());
  result.meetings_.resize(result.begin_.back());
  std::vector<std::size_t> next(result.begin_.begin(), result.begin_.end() - 1);
  for_each_meeting(problem, uses, spans, [&](const PieceSpan& a, const PieceSpan& b) {
    result.meetings_[next[a.item]++] = {b.item, a.piece, b.piece};
    result.meetings_[next[b.item]++] = {a.item, b.piece, a.piece};
  });
  for (std::uint32_t i = 0; i < problem.apart.size(); ++i) {
    const ApartPair& pair = problem.apart[i];
    const std::uint32_t bytes = Meeting::kApart + i;
    result.meetings_[next[pair.a]++] = {pair.b, bytes, bytes};
    result.meetings_[next[pair.b]++] = {pair.a, bytes, bytes};
  }
  return result;
}

}  // namespace stowage::pack
