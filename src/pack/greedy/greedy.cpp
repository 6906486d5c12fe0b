#include "pack/greedy/greedy.hpp"

#include <algorithm>
#include <numeric>

/// Places items one after the other, each once, at the best free offset at that time. Variants differ in the order of
/// the items and in what "best" means:
///
/// - by begin, tightest gap: what ggml's allocator does online (online.cpp);
/// - by size, lowest gap: TFLite Micro's greedy planner;
/// - by size, tightest gap: TFLite's arena planner and XLA's "spatial" heap;
/// - by life, lowest or tightest gap: XLA's "temporal" heap;
/// - by area (bytes × steps).
///
/// No single one wins (bench/README.md). Pinned items always come first. Among several regions the item goes where the
/// peak grows least: unpaid regions first, then by region number.
///
/// Cost: one query and one insertion of the occupancy per item.
namespace stowage::pack {
namespace {

struct FreePlace {
  std::int64_t offset;
  /// By how much the gap is larger than the item; the maximum for a gap without an end.
  std::int64_t slack;
};

constexpr std::int64_t kUnlimited = INT64_MAX;

/// How many items to place between looks at the clock. A pass with fewer items is always finished.
constexpr std::size_t kItemsBetweenLooks = 256;

/// Finds the best free offset among ascending blocked ranges. `last` is the largest offset that the region's limit
/// allows.
std::optional<FreePlace> find_place(const std::vector<OffsetRange>& blocked, Bytes alignment, std::int64_t last,
                                    Fit fit) {
  std::optional<FreePlace> best;
  std::int64_t free_from = 0;
  const auto consider = [&](std::int64_t free_until) {
    const std::int64_t offset = align_up(Bytes(free_from), alignment).value();
    const std::int64_t end = std::min(free_until, last);
    if (offset > end) return;
    const FreePlace place{offset, free_until == kUnlimited ? kUnlimited : end - free_from};
    if (!best || (fit == Fit::tightest && place.slack < best->slack)) best = place;
  };
  for (const OffsetRange& range : blocked) {
    if (range.lower > free_from) consider(range.lower - 1);
    if (best && fit == Fit::lowest) return best;
    free_from = std::max(free_from, range.upper);
  }
  consider(kUnlimited);
  return best;
}

class Greedy {
 public:
  Greedy(const Bench& bench, Fit fit)
      : problem_(bench.problem()),
        fit_(fit),
        occupancy_(bench.new_occupancy()),
        positions_(problem_.items.size()),
        tops_(problem_.regions.size()) {}

  /// Returns false when the item fits nowhere.
  bool place(std::size_t index) {
    const Item& item = problem_.items[index];
    std::optional<Position> best;
    std::int64_t best_growth = 0;
    std::int64_t best_slack = 0;
    for (std::uint32_t region = 0; region < problem_.regions.size(); ++region) {
      if (!item.may_lie_in(region)) continue;
      const std::optional<FreePlace> place = place_in(index, region);
      if (!place) continue;
      const std::int64_t growth = growth_of(item, region, place->offset);
      const bool better = !best || growth < best_growth ||
                          (growth == best_growth && fit_ == Fit::tightest && place->slack < best_slack);
      if (!better) continue;
      best = Position{region, Bytes(place->offset)};
      best_growth = growth;
      best_slack = place->slack;
    }
    if (!best) return false;
    commit(index, *best);
    return true;
  }

  std::vector<Position> take() && { return std::move(positions_); }

 private:
  std::optional<FreePlace> place_in(std::size_t index, std::uint32_t region) {
    const Item& item = problem_.items[index];
    if (item.pinned) return FreePlace{item.pinned->value(), 0};
    if (item.size == Bytes(0)) return FreePlace{0, 0};
    const std::optional<Bytes> limit = problem_.regions[region].limit;
    if (limit && item.size > *limit) return std::nullopt;
    blocked_.clear();
    occupancy_->blocked(index, region, blocked_);
    if (!std::is_sorted(blocked_.begin(), blocked_.end())) std::sort(blocked_.begin(), blocked_.end());
    return find_place(blocked_, item.alignment, limit ? (*limit - item.size).value() : kUnlimited, fit_);
  }

  /// -1 for unpaid regions, so that they are preferred to a paid region that would not grow.
  [[nodiscard]] std::int64_t growth_of(const Item& item, std::uint32_t region, std::int64_t offset) const {
    if (!problem_.regions[region].paid) return -1;
    return std::max<std::int64_t>(0, offset + item.size.value() - tops_[region].value());
  }

  void commit(std::size_t index, Position at) {
    positions_[index] = at;
    tops_[at.region] = std::max(tops_[at.region], at.offset + problem_.items[index].size);
    occupancy_->place(index, at);
  }

  const Problem& problem_;
  Fit fit_;
  std::unique_ptr<Occupancy> occupancy_;
  std::vector<Position> positions_;
  std::vector<Bytes> tops_;
  std::vector<OffsetRange> blocked_;
};

}  // namespace

double area_of(const Item& item) {
  double area = 0;
  for (const Piece& piece : item.pieces) {
    area += static_cast<double>(piece.when.length().value()) * static_cast<double>(piece.bytes.length().value());
  }
  return area;
}

namespace {

/// Pinned items come first. Then those that can only lie at the start of one region, because they fill it: anything
/// placed there before could leave no room for them.
int urgency_of(const Problem& problem, const Item& item) {
  if (item.pinned) return 2;
  return item.allowed.size() == 1 && problem.regions[item.allowed.front()].limit == item.size ? 1 : 0;
}

}  // namespace

std::vector<std::size_t> in_order(const Problem& problem, PlacementOrder order) {
  struct OrderKey {
    int urgency;
    double rank;  ///< Larger comes first.
    std::int64_t size;
    std::int64_t begin;
  };
  std::vector<OrderKey> keys;
  keys.reserve(problem.items.size());
  for (const Item& item : problem.items) {
    const Interval life = item.life();
    const double rank = order == PlacementOrder::life   ? static_cast<double>(life.length().value())
                        : order == PlacementOrder::area ? area_of(item)
                                                        : 0;
    keys.push_back(
        {urgency_of(problem, item), rank, order == PlacementOrder::begin ? 0 : item.size.value(), life.lower.value()});
  }
  std::vector<std::size_t> items(problem.items.size());
  std::iota(items.begin(), items.end(), std::size_t{0});
  std::sort(items.begin(), items.end(), [&](std::size_t a, std::size_t b) {
    if (keys[a].urgency != keys[b].urgency) return keys[a].urgency > keys[b].urgency;
    if (keys[a].rank != keys[b].rank) return keys[a].rank > keys[b].rank;
    if (keys[a].size != keys[b].size) return keys[a].size > keys[b].size;
    return keys[a].begin != keys[b].begin ? keys[a].begin < keys[b].begin : a < b;
  });
  return items;
}

std::optional<std::vector<Position>> place_greedily(const Bench& bench, PlacementOrder order, Fit fit) {
  Greedy greedy(bench, fit);
  std::size_t placed = 0;
  for (const std::size_t item : in_order(bench.problem(), order)) {
    if (!greedy.place(item)) return std::nullopt;
    if (++placed % kItemsBetweenLooks == 0 && bench.stop_requested() && !bench.needs_any()) return std::nullopt;
  }
  return std::move(greedy).take();
}

namespace {

void offer_greedily(Bench& bench, PlacementOrder order, Fit fit, std::string_view name) {
  if (std::optional<std::vector<Position>> positions = place_greedily(bench, order, fit))
    bench.offer(std::move(*positions), name);
}

}  // namespace

void solve_first_fit_by_size(Bench& bench) {
  offer_greedily(bench, PlacementOrder::size, Fit::lowest, "first_fit_by_size");
}
void solve_first_fit_by_life(Bench& bench) {
  offer_greedily(bench, PlacementOrder::life, Fit::lowest, "first_fit_by_life");
}
void solve_first_fit_by_area(Bench& bench) {
  offer_greedily(bench, PlacementOrder::area, Fit::lowest, "first_fit_by_area");
}
void solve_best_fit_by_size(Bench& bench) {
  offer_greedily(bench, PlacementOrder::size, Fit::tightest, "best_fit_by_size");
}
void solve_best_fit_by_life(Bench& bench) {
  offer_greedily(bench, PlacementOrder::life, Fit::tightest, "best_fit_by_life");
}

}  // namespace stowage::pack
