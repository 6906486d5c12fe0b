#include "pack/interface/unordered_items.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "pack/bounds/bound.hpp"
#include "pack/bounds/clique_grower.hpp"
#include "pack/index/occupancy.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

constexpr std::size_t kMaxItems = 8'192;               // so that the two bit matrices of `CliqueGrower` take 16 MiB
constexpr std::size_t kFullestSteps = 64;              // where sets are grown from
constexpr std::uint32_t kItemsBetweenStopChecks = 64;  // `stop` may read a clock

/// Searches for a heavy set of items of which no two are ordered. The items are the nodes of a graph whose edges
/// are the unordered pairs, so such a set is a clique. Nodes are numbered from the largest item to the smallest.
class CliqueSearch {
 public:
  explicit CliqueSearch(const Problem& problem)
      : problem_(problem), items_(paid_items(problem)), uses_(problem.order), grower_(items_.size()) {
    std::vector<std::uint32_t> node(problem.items.size(), kNobody);
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      lives_.push_back(problem.items[items_[i]].life());
      bytes_.push_back(touched_bytes(problem.items[items_[i]]));
      node[items_[i]] = i;
    }
    for (const Join& join : problem.joins) {
      if (node[join.a] != kNobody && node[join.b] != kNobody) joined_.insert(std::minmax(node[join.a], node[join.b]));
    }
  }

  /// The heaviest set found until `stop` returns true; without items if that is before any set is grown.
  Certificate find(const std::function<bool()>& stop) {
    if (!join_unordered(stop)) return {};
    for (const Step step : fullest_steps()) {
      if (stop()) return best_;
      grow_from(live_at(step));
    }
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (i % kItemsBetweenStopChecks == 0 && stop()) break;
      const bool covered = grower_.together(i, i);  // in a set grown before
      if (!covered) grow_from({i});
    }
    std::sort(best_.items.begin(), best_.items.end());
    return best_;
  }

 private:
  /// Tells the grower all edges. Returns false if it was stopped.
  bool join_unordered(const std::function<bool()>& stop) {
    for (std::uint32_t a = 0; a < items_.size(); ++a) {
      if (a % kItemsBetweenStopChecks == 0 && stop()) return false;
      for (std::uint32_t b = 0; b < a; ++b) {
        if (unordered(a, b)) grower_.join(a, b);
      }
    }
    return true;
  }

  /// The items that must go to paid regions, largest first, at most kMaxItems.
  static std::vector<std::size_t> paid_items(const Problem& problem) {
    std::vector<std::size_t> items;
    for (std::size_t i = 0; i < problem.items.size(); ++i) {
      if (problem.items[i].size > Bytes(0) && !may_evade(problem, problem.items[i])) items.push_back(i);
    }
    std::sort(items.begin(), items.end(), [&](std::size_t a, std::size_t b) {
      return problem.items[a].size != problem.items[b].size ? problem.items[a].size > problem.items[b].size : a < b;
    });
    if (items.size() > kMaxItems) items.resize(kMaxItems);
    return items;
  }

  static constexpr std::uint32_t kNobody = UINT32_MAX;

  /// Whether no piece of one comes before a piece of the other, and no join lets them share bytes.
  [[nodiscard]] bool unordered(std::uint32_t a, std::uint32_t b) const {
    if (!joined_.empty() && joined_.contains(std::minmax(a, b))) return false;
    const std::vector<Piece>& pieces = problem_.items[items_[a]].pieces;
    const std::vector<Piece>& others = problem_.items[items_[b]].pieces;
    return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) {
      return std::all_of(others.begin(), others.end(),
                         [&](const Piece& q) { return unordered(p, row_of(p, items_[a]), q, row_of(q, items_[b])); });
    });
  }

  /// Only the piece that begins first can come before the other, and only if it ends before the other begins.
  [[nodiscard]] bool unordered(const Piece& p, std::size_t p_row, const Piece& q, std::size_t q_row) const {
    if (p.when.overlaps(q.when)) return true;
    return p.when.lower < q.when.lower ? !uses_.before(p_row, q_row) : !uses_.before(q_row, p_row);
  }

  /// Of the steps at which items begin, those with the most live bytes, fullest first. A step at which several items
  /// begin may occur several times.
  [[nodiscard]] std::vector<Step> fullest_steps() const {
    std::vector<std::pair<Step, Bytes>> changes;
    for (const std::size_t i : items_) {
      const Bytes size = problem_.items[i].size;
      changes.emplace_back(problem_.items[i].life().lower, size);
      changes.emplace_back(problem_.items[i].life().upper, Bytes(0) - size);
    }
    std::sort(changes.begin(), changes.end());  // at equal steps, ends come first: their changes are negative
    std::vector<std::pair<Bytes, Step>> live;
    Bytes sum;
    for (const auto& [step, change] : changes) {
      sum += change;
      if (change > Bytes(0)) live.emplace_back(sum, step);
    }
    const auto end = live.begin() + static_cast<std::ptrdiff_t>(std::min(live.size(), kFullestSteps));
    std::partial_sort(live.begin(), end, live.end(), std::greater<>());
    std::vector<Step> steps;
    for (auto each = live.begin(); each != end; ++each) steps.push_back(each->second);
    return steps;
  }

  /// Items that are live at the step, largest first, as long as all are unordered.
  [[nodiscard]] std::vector<std::uint32_t> live_at(Step step) const {
    std::vector<std::uint32_t> live;
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (!lives_[i].contains(step)) continue;
      if (std::all_of(live.begin(), live.end(), [&](std::uint32_t other) { return grower_.are_joined(i, other); }))
        live.push_back(i);
    }
    return live;
  }

  /// Grows a set from some unordered items and keeps it if it is the heaviest so far.
  void grow_from(std::vector<std::uint32_t> some) {
    Certificate found{Certificate::Argument::unordered_items, Bytes(0), {}, 0, {}};
    for (const std::uint32_t i : grower_.grow(std::move(some))) {
      found.items.push_back(items_[i]);
      found.bytes += bytes_[i];
    }
    if (found.bytes > best_.bytes) best_ = std::move(found);
  }

  const Problem& problem_;
  std::vector<std::size_t> items_;  ///< By node.
  StreamUses uses_;
  std::vector<Interval> lives_;  ///< By node.
  std::vector<Bytes> bytes_;     ///< By node: those that some piece occupies.
  std::set<std::pair<std::uint32_t, std::uint32_t>> joined_;
  CliqueGrower grower_;
  Certificate best_;
};

}  // namespace

std::optional<Certificate> unordered_items_bound(const Problem& problem, Bytes from,
                                                 const std::function<bool()>& stop) {
  if (problem.order.empty()) return std::nullopt;
  Certificate found = CliqueSearch(problem).find(stop);
  if (found.bytes <= from) return std::nullopt;
  return found;
}

}  // namespace stowage::pack
