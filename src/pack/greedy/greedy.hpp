#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pack/bench.hpp"

namespace stowage::pack {

/// Which items are placed first. Pinned items always are, and then those that fill the only region they may lie in;
/// ties go to the larger, then the earlier, then the lower index.
enum class PlacementOrder : std::uint8_t { begin, size, life, area };

/// Which free gap is taken: the one at the lowest offset, or the smallest (the lowest of equal ones; a gap without an
/// end counts as the largest).
enum class Fit : std::uint8_t { lowest, tightest };

/// Bytes × steps, summed over all pieces.
[[nodiscard]] double area_of(const Item& item);

/// The items' indices in `order`.
[[nodiscard]] std::vector<std::size_t> in_order(const Problem& problem, PlacementOrder order);

/// Places the items one after the other, each once. Nothing when an item fits nowhere, or when the bench is told to
/// stop meanwhile.
std::optional<std::vector<Position>> place_greedily(const Bench& bench, PlacementOrder order, Fit fit);

/// In order of begin, each in the tightest gap.
void solve_online_best_fit(Bench& bench);
/// The largest first, each in the lowest gap. `solve` uses this solver when the requested one does not accept the
/// problem.
void solve_first_fit_by_size(Bench& bench);

/// Positions to keep, by item.
struct KeptPositions {
  std::vector<std::optional<Position>> positions;  ///< Absent: to be placed again.
  std::vector<std::size_t> must_stay;              ///< Items that must keep their positions; they are tried first.
};

/// Leaves items at their kept positions as far as possible, larger ones first; places the others by size in the lowest
/// gap. Fails with `ErrorCode::invalid` when an item of `must_stay` cannot keep its position; returns nothing when
/// another item fits nowhere.
Result<std::optional<std::vector<Position>>> place_keeping(const Bench& bench, const KeptPositions& kept);

/// Why an item may not lie at a position even if it is the only item; empty if it may.
[[nodiscard]] std::string why_not_at(const Problem& problem, std::size_t item, Position at);

}  // namespace stowage::pack
