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
/// something shared begins or ends. Each segment sends its bytes along shortest augmenting paths, O(edges) each; after
/// `effort` looks at edges the rest counts as if all of it could be sent.
class TakeoverFlow {
 public:
  TakeoverFlow(const Problem& problem, std::span<const SharedByJoin> shared) {
    std::map<PieceKey, std::set<Bytes>> cuts;
    for (const SharedByJoin& each : shared) cuts[earlier_of(each)].insert({each.bytes.lower, each.bytes.upper});
    std::map<std::pair<PieceKey, Bytes>, std::size_t> segments;
    std::map<PieceKey, std::size_t> takers;
    for (const SharedByJoin& each : shared) {
      const auto [taker, is_new] = takers.try_emplace(later_of(each), takers_.size());
      if (is_new) takers_.push_back({problem.items[each.later].pieces[each.later_piece].bytes.length()});
      const std::set<Bytes>& at = cuts[earlier_of(each)];
      for (auto cut = at.find(each.bytes.lower); *cut < each.bytes.upper; ++cut) {
        const auto [segment, added] = segments.try_emplace({earlier_of(each), *cut}, segments_.size());
        if (added) segments_.push_back({*std::next(cut) - *cut});
        segments_[segment->second].edges.try_emplace(taker->second);
      }
    }
  }

  /// At least the largest flow, and equal to it if `effort` suffices, which is reduced by what was used.
  Bytes run(std::size_t& effort) {
    Bytes total;
    for (std::size_t segment = 0; segment < segments_.size(); ++segment) {
      while (segments_[segment].left > Bytes(0) && effort > 0) {
        const Bytes sent = push(segment, effort);
        if (sent == Bytes(0)) break;
        total += sent;
      }
      if (effort == 0) total += segments_[segment].left;
    }
    return total;
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Segment {
    Bytes left;
    std::map<std::size_t, Bytes> edges = {};  ///< What each taker takes of it.
    std::size_t displaced_by = kNone;         ///< On the current path: the taker that it would leave.
    std::size_t seen = 0;                     ///< The last search that came here.
  };
  struct Taker {
    Bytes room;
    std::set<std::size_t> givers = {};  ///< The segments of which it takes something.
    std::size_t reached_by = kNone;     ///< On the current path: the segment that would give to it.
    std::size_t seen = 0;
  };

  /// The nearest taker that has room, along a path on which segments give way to each other; kNone: there is none, or
  /// the effort is used up.
  std::size_t find_path(std::size_t from, std::size_t& effort) {
    ++search_;
    segments_[from].seen = search_;
    for (std::deque<std::size_t> queue = {from}; !queue.empty(); queue.pop_front()) {
      for (const auto& [taker, flow] : segments_[queue.front()].edges) {
        if (effort == 0) return kNone;
        --effort;
        Taker& reached = takers_[taker];
        if (std::exchange(reached.seen, search_) == search_) continue;
        reached.reached_by = queue.front();
        if (reached.room > Bytes(0)) return taker;
        for (const std::size_t giver : reached.givers) {
          if (std::exchange(segments_[giver].seen, search_) == search_) continue;
          segments_[giver].displaced_by = taker;
          queue.push_back(giver);
        }
      }
    }
    return kNone;
  }

  void change(std::size_t segment, std::size_t taker, Bytes by) {
    Bytes& flow = segments_[segment].edges[taker];
    flow += by;
    if (flow > Bytes(0))
      takers_[taker].givers.insert(segment);
    else
      takers_[taker].givers.erase(segment);
  }

  /// Sends bytes of a segment along a shortest path; returns how many.
  Bytes push(std::size_t from, std::size_t& effort) {
    const std::size_t end = find_path(from, effort);
    if (end == kNone) return Bytes(0);
    Bytes amount = std::min(segments_[from].left, takers_[end].room);
    for (std::size_t segment = takers_[end].reached_by; segment != from;) {
      const std::size_t taker = segments_[segment].displaced_by;
      amount = std::min(amount, segments_[segment].edges[taker]);
      segment = takers_[taker].reached_by;
    }
    std::size_t segment = takers_[end].reached_by;
    change(segment, end, amount);
    while (segment != from) {
      const std::size_t taker = segments_[segment].displaced_by;
      change(segment, taker, Bytes(0) - amount);
      segment = takers_[taker].reached_by;
      change(segment, taker, amount);
    }
    segments_[from].left -= amount;
    takers_[end].room -= amount;
    return amount;
  }

  std::vector<Segment> segments_;
  std::vector<Taker> takers_;
  std::size_t search_ = 0;
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

Bytes most_saved(const Problem& problem, std::span<const SharedByJoin> shared, std::size_t& effort) {
  if (shared.size() < 2) return sum_of(shared);
  effort -= std::min(effort, shared.size());
  if (effort == 0 || !compete(shared) || !is_two_sided(shared)) return sum_of(shared);
  return TakeoverFlow(problem, shared).run(effort);
}

Bytes most_saved(const Problem& problem, std::span<const SharedByJoin> shared) {
  std::size_t effort = kSavingsEffort;
  return most_saved(problem, shared, effort);
}

}  // namespace stowage::plan
