#include "pack/index/interval_kd_tree.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace stowage::pack {

IntervalKdTree::IntervalKdTree(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last)
    : first_(first), last_(last), place_(first.size()) {
  while (std::size_t{leaves_} * kLeafSize < first.size()) leaves_ *= 2;
  nodes_.resize(std::size_t{leaves_} * 2);
  entries_.resize(std::size_t{leaves_} * kLeafSize);
  std::vector<std::uint32_t> intervals(first.size());
  std::iota(intervals.begin(), intervals.end(), 0U);
  split(1, intervals);
}

/// Distributes the intervals to the leaves below `node`: halves them at the median of `first` or `last`, whichever is
/// more spread out.
void IntervalKdTree::split(std::uint32_t node, std::span<std::uint32_t> intervals) {
  if (node >= leaves_) {
    std::uint32_t place = (node - leaves_) * kLeafSize;
    for (const std::uint32_t i : intervals) place_[i] = place++;
    return;
  }
  const auto spread = [&](std::span<const std::uint32_t> values) {
    const auto [low, high] =
        std::minmax_element(intervals.begin(), intervals.end(), [&](auto a, auto b) { return values[a] < values[b]; });
    return values[*high] - values[*low];
  };
  const std::span<const std::uint32_t> key = spread(first_) >= spread(last_) ? first_ : last_;
  std::nth_element(intervals.begin(), intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2),
                   intervals.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
  split(2 * node, intervals.first(intervals.size() / 2));
  split(2 * node + 1, intervals.subspan(intervals.size() / 2));
}

std::span<const IntervalKdTree::RankedInterval, IntervalKdTree::kLeafSize> IntervalKdTree::entries_of(
    std::uint32_t leaf) const {
  return std::span<const RankedInterval, kLeafSize>(entries_.data() + std::size_t{leaf - leaves_} * kLeafSize,
                                                    kLeafSize);
}

IntervalKdTree::Summary IntervalKdTree::leaf_summary(std::uint32_t leaf) const {
  Summary node;
  for (const RankedInterval& entry : entries_of(leaf)) {
    if (entry.rank == kNone) continue;
    node.min_first = std::min(node.min_first, entry.first);
    node.max_first = std::max(node.max_first, entry.first);
    node.min_last = std::min(node.min_last, entry.last);
    node.max_last = std::max(node.max_last, entry.last);
    node.best = std::min(node.best, entry.rank);
  }
  return node;
}

IntervalKdTree::Summary IntervalKdTree::joined(std::uint32_t node) const {
  const Summary& a = nodes_[std::size_t{node} * 2];
  const Summary& b = nodes_[std::size_t{node} * 2 + 1];
  return {std::min(a.min_first, b.min_first), std::max(a.max_first, b.max_first), std::min(a.min_last, b.min_last),
          std::max(a.max_last, b.max_last), std::min(a.best, b.best)};
}

void IntervalKdTree::reset(std::span<const std::uint32_t> by_rank) {
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    const std::uint32_t i = by_rank[rank];
    entries_[place_[i]] = {first_[i], last_[i], rank, i};
  }
  for (std::uint32_t node = 2 * leaves_ - 1; node > 0; --node)
    nodes_[node] = node >= leaves_ ? leaf_summary(node) : joined(node);
}

void IntervalKdTree::erase(std::uint32_t interval) {
  entries_[place_[interval]] = {};
  std::uint32_t node = leaves_ + place_[interval] / kLeafSize;
  nodes_[node] = leaf_summary(node);
  while ((node /= 2) != 0) {
    const Summary now = joined(node);
    if (now == nodes_[node]) return;
    nodes_[node] = now;
  }
}

/// Visits the entries of every leaf that the query wants, preferred ones first. Before entering a deferred subtree,
/// asks the query again, because it wants less as it finds entries.
template <typename Query>
void IntervalKdTree::search(Query& query) const {
  std::array<std::uint32_t, 32> aside;  // at most one sibling per level
  std::uint32_t count = 0;
  aside[count++] = 1;
  while (count > 0) {
    std::uint32_t at = aside[--count];
    if (!query.wants(nodes_[at])) continue;
    while (at < leaves_) {
      const Summary& a = nodes_[2 * at];
      const Summary& b = nodes_[2 * at + 1];
      const bool wants_a = query.wants(a);
      const bool wants_b = query.wants(b);
      if (!wants_a && !wants_b) break;
      at = 2 * at + (wants_b && !(wants_a && query.prefers(a, b)) ? 1 : 0);
      if (wants_a && wants_b) aside[count++] = at ^ 1U;
    }
    if (at < leaves_) continue;
    for (const RankedInterval& entry : entries_of(at)) query.take(entry);
  }
}

std::uint32_t IntervalKdTree::best_covering(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const {
  struct {
    std::uint32_t section, begin, end;
    std::uint32_t best = kNone;
    std::uint32_t interval = kNone;
    bool wants(const Summary& n) const {
      return (n.best < best) & (n.min_first <= section) & (n.max_first >= begin) & (n.max_last > section) &
             (n.min_last <= end);
    }
    static bool prefers(const Summary& a, const Summary& b) { return a.best < b.best; }
    void take(const RankedInterval& e) {
      if ((e.rank >= best) | (e.first < begin) | (e.first > section) | (e.last <= section) | (e.last > end)) return;
      best = e.rank;
      interval = e.interval;
    }
  } query{section, begin, end};
  search(query);
  return query.interval;
}

/// The largest `last` <= section of intervals with first >= begin; `begin` when there is none.
std::uint32_t IntervalKdTree::last_end(std::uint32_t section, std::uint32_t begin) const {
  struct {
    std::uint32_t section, begin, most;
    bool wants(const Summary& n) const {
      return (n.max_last > most) & (most < section) & (n.max_first >= begin) & (n.min_last <= section);
    }
    static bool prefers(const Summary& a, const Summary& b) { return a.max_last > b.max_last; }
    void take(const RankedInterval& e) {
      if ((e.last > most) & (e.last <= section) & (e.first >= begin)) most = e.last;
    }
  } query{section, begin, begin};
  search(query);
  return query.most;
}

/// The smallest `first` > section of intervals with last <= end; `end` when there is none.
std::uint32_t IntervalKdTree::next_begin(std::uint32_t section, std::uint32_t end) const {
  struct {
    std::uint32_t section, end, least;
    bool wants(const Summary& n) const {
      return (n.min_first < least) & (least > section + 1) & (n.max_first > section) & (n.min_last <= end);
    }
    static bool prefers(const Summary& a, const Summary& b) { return a.min_first < b.min_first; }
    void take(const RankedInterval& e) {
      if ((e.first < least) & (e.first > section) & (e.last <= end)) least = e.first;
    }
  } query{section, end, end};
  search(query);
  return query.least;
}

IntervalKdTree::Gap IntervalKdTree::gap_around(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const {
  return {last_end(section, begin), next_begin(section, end)};
}

}  // namespace stowage::pack
