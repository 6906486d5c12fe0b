#include "plan/interface/join_savings.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace stowage::plan {
namespace {

/// Item and index in its pieces.
using PieceKey = std::pair<std::uint32_t, std::uint32_t>;

PieceKey earlier_of(const SharedByJoin& shared) { return {shared.earlier, shared.earlier_piece}; }
PieceKey later_of(const SharedByJoin& shared) { return {shared.later, shared.later_piece}; }

void append_shared(const Problem& problem, const Join& join, std::vector<SharedByJoin>& result) {
  const bool in_order = problem.items[join.a].life().lower <= problem.items[join.b].life().lower;
  const std::uint32_t earlier = in_order ? join.a : join.b;
  const std::uint32_t later = in_order ? join.b : join.a;
  const Bytes distance = in_order ? join.distance : Bytes(0) - join.distance;
  const std::vector<Piece>& from = problem.items[earlier].pieces;
  const std::vector<Piece>& to = problem.items[later].pieces;
  for (std::uint32_t p = 0; p < from.size(); ++p) {
    for (std::uint32_t q = 0; q < to.size(); ++q) {
      const Interval when{std::max(from[p].when.lower, to[q].when.lower),
                          std::min(from[p].when.upper, to[q].when.upper)};
      const ByteRange bytes{std::max(from[p].bytes.lower, to[q].bytes.lower + distance),
                            std::min(from[p].bytes.upper, to[q].bytes.upper + distance)};
      if (when.lower < when.upper && bytes.lower < bytes.upper) result.push_back({when, earlier, later, p, q, bytes});
    }
  }
}

Bytes sum_of(std::span<const SharedByJoin> shared) {
  Bytes sum;
  for (const SharedByJoin& each : shared) sum += each.bytes.length();
  return sum;
}

/// Whether some piece is shared more than once.
bool compete(std::span<const SharedByJoin> shared) {
  std::set<PieceKey> seen;
  return std::any_of(shared.begin(), shared.end(), [&](const SharedByJoin& each) {
    return !seen.insert(earlier_of(each)).second || !seen.insert(later_of(each)).second;
  });
}

/// The flow from bytes of earlier pieces to later pieces that may take them. The bytes of a piece are divided where
/// something shared begins or ends.
class TakeoverFlow {
 public:
  TakeoverFlow(const Problem& problem, std::span<const SharedByJoin> shared) {
    std::map<PieceKey, std::set<Bytes>> cuts;
    for (const SharedByJoin& each : shared) cuts[earlier_of(each)].insert({each.bytes.lower, each.bytes.upper});
    std::map<std::pair<PieceKey, Bytes>, std::size_t> segments;
    std::map<PieceKey, std::size_t> takers;
    for (const SharedByJoin& each : shared) {
      const auto [taker, is_new] = takers.try_emplace(later_of(each), room_.size());
      if (is_new) room_.push_back(problem.items[each.later].pieces[each.later_piece].bytes.length());
      const std::set<Bytes>& at = cuts[earlier_of(each)];
      for (auto cut = at.find(each.bytes.lower); *cut < each.bytes.upper; ++cut) {
        const auto [segment, added] = segments.try_emplace({earlier_of(each), *cut}, left_.size());
        if (added) left_.push_back(*std::next(cut) - *cut);
        if (added) edges_.emplace_back();
        edges_[segment->second].try_emplace(taker->second);
      }
    }
  }

  Bytes run() {
    Bytes total;
    for (std::size_t segment = 0; segment < left_.size(); ++segment) {
      while (left_[segment] > Bytes(0)) {
        const Bytes sent = push(segment);
        if (sent == Bytes(0)) break;
        total += sent;
      }
    }
    return total;
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  /// A path on which segments give way to each other.
  struct Path {
    std::vector<std::size_t> reached_by;    ///< By taker: the segment that would give to it.
    std::vector<std::size_t> displaced_by;  ///< By segment: the taker that it would leave.
    std::size_t end = kNone;                ///< A taker that has room; kNone: there is no path.
  };

  [[nodiscard]] Path find_path(std::size_t from) const {
    Path path{std::vector<std::size_t>(room_.size(), kNone), std::vector<std::size_t>(left_.size(), kNone)};
    for (std::deque<std::size_t> queue = {from}; !queue.empty(); queue.pop_front()) {
      for (const auto& [taker, flow] : edges_[queue.front()]) {
        if (path.reached_by[taker] != kNone) continue;
        path.reached_by[taker] = queue.front();
        if (room_[taker] > Bytes(0)) {
          path.end = taker;
          return path;
        }
        for (std::size_t other = 0; other < edges_.size(); ++other) {
          const auto used = edges_[other].find(taker);
          const bool gives = used != edges_[other].end() && used->second > Bytes(0);
          if (!gives || path.displaced_by[other] != kNone || other == from) continue;
          path.displaced_by[other] = taker;
          queue.push_back(other);
        }
      }
    }
    return path;
  }

  /// Sends bytes of a segment along a shortest path; returns how many.
  Bytes push(std::size_t from) {
    const Path path = find_path(from);
    if (path.end == kNone) return Bytes(0);
    Bytes amount = std::min(left_[from], room_[path.end]);
    for (std::size_t segment = path.reached_by[path.end]; segment != from;) {
      const std::size_t taker = path.displaced_by[segment];
      amount = std::min(amount, edges_[segment][taker]);
      segment = path.reached_by[taker];
    }
    std::size_t segment = path.reached_by[path.end];
    edges_[segment][path.end] += amount;
    while (segment != from) {
      const std::size_t taker = path.displaced_by[segment];
      edges_[segment][taker] -= amount;
      segment = path.reached_by[taker];
      edges_[segment][taker] += amount;
    }
    left_[from] -= amount;
    room_[path.end] -= amount;
    return amount;
  }

  std::vector<Bytes> left_;                          ///< By segment.
  std::vector<Bytes> room_;                          ///< By taker.
  std::vector<std::map<std::size_t, Bytes>> edges_;  ///< By segment: what each taker takes of it.
};

bool is_two_sided(std::span<const SharedByJoin> shared) {
  std::set<PieceKey> later;
  for (const SharedByJoin& each : shared) later.insert(later_of(each));
  return std::none_of(shared.begin(), shared.end(),
                      [&](const SharedByJoin& each) { return later.contains(earlier_of(each)); });
}

}  // namespace

std::span<const Join> joins_between(const Problem& problem, std::size_t x, std::size_t y) {
  const auto pair = std::pair(static_cast<std::uint32_t>(std::min(x, y)), static_cast<std::uint32_t>(std::max(x, y)));
  const auto items = [](const Join& join) { return std::pair(join.a, join.b); };
  const auto first = std::lower_bound(problem.joins.begin(), problem.joins.end(), pair,
                                      [&](const Join& join, const auto& wanted) { return items(join) < wanted; });
  auto last = first;
  while (last != problem.joins.end() && items(*last) == pair) ++last;
  return {first, last};
}

std::vector<SharedByJoin> shared_by_joins(const Problem& problem) {
  std::vector<SharedByJoin> result;
  for (const Join& join : problem.joins) append_shared(problem, join, result);
  return result;
}

std::vector<SharedByJoin> shared_by_joins_at(const Problem& problem, Step step) {
  std::vector<SharedByJoin> result = shared_by_joins(problem);
  std::erase_if(result, [&](const SharedByJoin& each) { return !each.when.contains(step); });
  return result;
}

Bytes most_saved(const Problem& problem, std::span<const SharedByJoin> shared) {
  if (shared.size() < 2) return sum_of(shared);
  if (!compete(shared) || !is_two_sided(shared)) return sum_of(shared);
  return TakeoverFlow(problem, shared).run();
}

}  // namespace stowage::plan
