#include <algorithm>
#include <numeric>

#include "pack/index/occupancy.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

/// The time span of a piece or, with stream order, of an item.
struct PieceSpan {
  Step begin;
  /// With stream order: the step from which on everything on any stream comes after it.
  Step end;
  std::uint32_t item;
  std::uint32_t piece;
};

std::vector<PieceSpan> spans_of(const Problem& problem) {
  std::vector<PieceSpan> spans;
  spans.reserve(problem.items.size());
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    if (!problem.order.empty()) {
      spans.push_back({problem.items[i].life().lower, latest_threshold(problem.order, i), i, 0});
      continue;
    }
    for (std::uint32_t p = 0; p < problem.items[i].pieces.size(); ++p) {
      const Interval when = problem.items[i].pieces[p].when;
      spans.push_back({when.lower, when.upper, i, p});
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
      if (!problem.order.empty() && uses.before(spans[i].item, spans[j].item)) continue;
      f(spans[i], spans[j]);
    }
  }
}

}  // namespace

Step latest_threshold(const StreamOrder& order, std::size_t item) {
  Step latest(0);
  for (std::size_t stream = 0; stream < order.streams; ++stream)
    latest = std::max(latest, order.threshold[item * order.streams + stream]);
  return latest;
}

std::optional<Meetings> Meetings::find(const Problem& problem, std::size_t limit) {
  const std::vector<PieceSpan> spans = spans_of(problem);
  if (count_overlaps(spans) > limit) return std::nullopt;

  const StreamUses uses(problem.order, problem.items.size());
  Meetings result;
  result.begin_.assign(problem.items.size() + 1, 0);
  for_each_meeting(problem, uses, spans, [&](const PieceSpan& a, const PieceSpan& b) {
    ++result.begin_[a.item + 1];
    ++result.begin_[b.item + 1];
  });
  std::partial_sum(result.begin_.begin(), result.begin_.end(), result.begin_.begin());
  result.meetings_.resize(result.begin_.back());
  std::vector<std::size_t> next(result.begin_.begin(), result.begin_.end() - 1);
  for_each_meeting(problem, uses, spans, [&](const PieceSpan& a, const PieceSpan& b) {
    result.meetings_[next[a.item]++] = {b.item, a.piece, b.piece};
    result.meetings_[next[b.item]++] = {a.item, b.piece, a.piece};
  });
  return result;
}

}  // namespace stowage::pack
