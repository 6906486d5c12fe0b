#include <algorithm>

#include <fmt/format.h>

#include "pack/greedy/greedy.hpp"

namespace stowage::pack {
namespace {

/// Places the items that stay. Uses blocked ranges, which take account of pieces, regions and stream order.
class Keeper {
 public:
  explicit Keeper(const Bench& bench) : problem_(bench.problem()), occupancy_(bench.new_occupancy()) {}

  /// Places the item if it is allowed there and does not conflict with those kept so far; returns whether it did.
  bool keep(std::size_t item, Position at) {
    if (!why_not_at(problem_, item, at).empty() || is_blocked(item, at)) return false;
    occupancy_->place(item, at);
    return true;
  }

 private:
  bool is_blocked(std::size_t item, Position at) {
    if (problem_.items[item].size == Bytes(0)) return false;
    blocked_.clear();
    occupancy_->blocked(item, at.region, blocked_);
    return std::any_of(blocked_.begin(), blocked_.end(),
                       [&](OffsetRange range) { return range.contains(at.offset.value()); });
  }

  const Problem& problem_;
  std::unique_ptr<Occupancy> occupancy_;
  std::vector<OffsetRange> blocked_;
};

Error must_stay_error(const Problem& problem, std::size_t item, Position at, const KeptPositions& kept) {
  std::string reason = why_not_at(problem, item, at);
  for (const std::size_t other : kept.must_stay) {
    if (!reason.empty()) break;
    if (other != item && in_conflict(problem, item, at, other, *kept.positions[other]))
      reason = fmt::format("overlaps item {}, which must stay too", other);
  }
  return {ErrorCode::invalid,
          fmt::format("item {} must stay at {}, but {}", item, at.offset.value(), reason),
          {.file = {}, .line = {}, .path = fmt::format("items[{}]", item)}};
}

}  // namespace

std::string why_not_at(const Problem& problem, std::size_t index, Position at) {
  const Item& item = problem.items[index];
  if (at.region >= problem.regions.size() || !item.may_lie_in(at.region)) return "is not allowed in that region";
  if (at.offset < Bytes(0) || at.offset > kMaxBytes - item.size) return "would end above 2^62 bytes";
  if (const std::optional<Bytes> limit = problem.regions[at.region].limit; limit && at.offset + item.size > *limit)
    return "ends above the region's limit";
  if (!is_aligned(at.offset, item.alignment))
    return fmt::format("needs an offset that is a multiple of {}", item.alignment.value());
  if (item.pinned && at.offset != *item.pinned) return fmt::format("is pinned at {}", item.pinned->value());
  return {};
}

Result<std::optional<std::vector<Position>>> place_keeping(const Bench& bench, const KeptPositions& kept) {
  const Problem& problem = bench.problem();
  Keeper keeper(bench);
  Problem pinned = problem;
  const auto pin = [&](std::size_t item, Position at) {
    pinned.items[item].pinned = at.offset;
    pinned.items[item].allowed = {at.region};
  };
  std::vector<char> tried(problem.items.size());
  for (const std::size_t item : kept.must_stay) {
    const Position at = *kept.positions[item];
    if (!keeper.keep(item, at)) return must_stay_error(problem, item, at, kept);
    pin(item, at);
    tried[item] = 1;
  }
  for (const std::size_t item : in_order(problem, PlacementOrder::size)) {
    if (tried[item] == 0 && kept.positions[item] && keeper.keep(item, *kept.positions[item]))
      pin(item, *kept.positions[item]);
  }
  const SolveOptions options;
  return place_greedily(Bench(pinned, options, {}), PlacementOrder::size, Fit::lowest);
}

}  // namespace stowage::pack
