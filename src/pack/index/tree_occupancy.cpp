#include <algorithm>
#include <bit>
#include <optional>

#include "pack/index/occupancy.hpp"

/// A segment tree over time, for problems whose list of pairs would not fit in memory (Y_1 has 180 million pairs).
///
/// Time is cut where pieces begin. Each node of the tree stands for a span of time and keeps two sets of byte ranges:
/// *covering*, of pieces that last through the whole node but not through its whole parent, and *touching*, of pieces
/// that last through any part of it. A query's span is covered by O(log n) nodes; it conflicts with what touches those
/// nodes or covers one of their ancestors. The sets are kept as unions of ranges. Because packings are dense, the union
/// of hundreds of pieces is usually a handful of ranges, which makes this fast.
namespace stowage::pack {
namespace {

/// A set of numbers as ascending, disjoint, non-adjacent ranges.
class RangeUnion {
 public:
  void insert(OffsetRange range) {
    const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), range.lower,
                                        [](const OffsetRange& each, std::int64_t lower) { return each.upper < lower; });
    auto last = first;
    for (; last != ranges_.end() && last->lower <= range.upper; ++last) {
      range.lower = std::min(range.lower, last->lower);
      range.upper = std::max(range.upper, last->upper);
    }
    if (first == last) {
      ranges_.insert(first, range);
      return;
    }
    *first = range;
    ranges_.erase(first + 1, last);
  }

  [[nodiscard]] const std::vector<OffsetRange>& ranges() const { return ranges_; }

 private:
  std::vector<OffsetRange> ranges_;
};

struct OccupancyNode {
  RangeUnion covering;
  RangeUnion touching;
};

class TimeTree {
 public:
  explicit TimeTree(std::size_t spans) : leaves_(std::bit_ceil(std::max<std::size_t>(1, spans))), nodes_(2 * leaves_) {}

  /// Occupies `bytes` during spans [first, last).
  void insert(std::size_t first, std::size_t last, OffsetRange bytes) {
    for_each_covering(first, last, [&](std::size_t node) { nodes_[node].covering.insert(bytes); });
    for_each_touching(first, last, [&](std::size_t node) { nodes_[node].touching.insert(bytes); });
  }

  /// Calls `f` with each range of bytes that is occupied at some time in [first, last); ranges may overlap.
  template <class F>
  void occupied(std::size_t first, std::size_t last, F&& f) const {
    for_each_covering(first, last, [&](std::size_t node) {
      for (const OffsetRange& range : nodes_[node].touching.ranges()) f(range);
    });
    for_each_ancestor(first, last, [&](std::size_t node) {
      for (const OffsetRange& range : nodes_[node].covering.ranges()) f(range);
    });
  }

 private:
  /// The smallest set of nodes that together make up [first, last).
  template <class F>
  void for_each_covering(std::size_t first, std::size_t last, F&& f) const {
    for (first += leaves_, last += leaves_; first < last; first /= 2, last /= 2) {
      if (first % 2 == 1) f(first++);
      if (last % 2 == 1) f(--last);
    }
  }

  /// Nodes that overlap [first, last) without lying inside it: the ancestors of its ends, each once.
  template <class F>
  void for_each_ancestor(std::size_t first, std::size_t last, F&& f) const {
    std::size_t left = first + leaves_;
    std::size_t right = last - 1 + leaves_;
    for (std::size_t width = 1; left >= 1; left /= 2, right /= 2, width *= 2) {
      if (!within(left, width, first, last)) f(left);
      if (right != left && !within(right, width, first, last)) f(right);
    }
  }

  /// Nodes that overlap [first, last): the smallest set that covers it, and all ancestors of these.
  template <class F>
  void for_each_touching(std::size_t first, std::size_t last, F&& f) const {
    for_each_covering(first, last, f);
    for_each_ancestor(first, last, f);
  }

  [[nodiscard]] bool within(std::size_t node, std::size_t width, std::size_t first, std::size_t last) const {
    const std::size_t begin = node * width - leaves_;
    return first <= begin && begin + width <= last;
  }

  std::size_t leaves_;
  std::vector<OccupancyNode> nodes_;
};

class TreeOccupancy final : public Occupancy {
 public:
  explicit TreeOccupancy(const Problem& problem) : problem_(problem) {
    for (const Item& item : problem.items) {
      for (const Piece& piece : item.pieces) cuts_.push_back(piece.when.lower);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    trees_.resize(problem.regions.size());
    index_.reserve(problem.items.size() + 1);
    for (const Item& item : problem.items) {
      index_.push_back(spans_.size());
      for (const Piece& piece : item.pieces) spans_.push_back({span(piece.when.lower), span(piece.when.upper)});
    }
  }

  void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const override {
    if (!trees_[region]) return;
    const std::vector<Piece>& pieces = problem_.items[item].pieces;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Spans& when = spans_[index_[item] + p];
      const ByteRange mine = pieces[p].bytes;
      if (mine.empty()) continue;
      trees_[region]->occupied(when.first, when.last, [&](OffsetRange theirs) {
        ranges.push_back({theirs.lower - mine.upper.value() + 1, theirs.upper - mine.lower.value()});
      });
    }
  }

  void place(std::size_t item, Position at) override {
    if (!trees_[at.region]) trees_[at.region].emplace(cuts_.size());
    const std::vector<Piece>& pieces = problem_.items[item].pieces;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Spans& when = spans_[index_[item] + p];
      const OffsetRange bytes{(pieces[p].bytes.lower + at.offset).value(), (pieces[p].bytes.upper + at.offset).value()};
      if (!bytes.empty()) trees_[at.region]->insert(when.first, when.last, bytes);
    }
  }

 private:
  struct Spans {
    std::size_t first;
    std::size_t last;
  };

  /// Two pieces that overlap share a step at which one of them begins, so it is enough to cut time at begins.
  [[nodiscard]] std::size_t span(Step step) const {
    return static_cast<std::size_t>(std::lower_bound(cuts_.begin(), cuts_.end(), step) - cuts_.begin());
  }

  const Problem& problem_;
  std::vector<Step> cuts_;
  std::vector<std::size_t> index_;  ///< By item: where the spans of its pieces start.
  std::vector<Spans> spans_;
  std::vector<std::optional<TimeTree>> trees_;  ///< By region; none for an empty one.
};

}  // namespace

std::unique_ptr<Occupancy> make_tree_occupancy(const Problem& problem) {
  return std::make_unique<TreeOccupancy>(problem);
}

}  // namespace stowage::pack
