#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pack/bench.hpp"

namespace stowage::pack {

/// Who comes first. Pinned items always do; ties go to the larger, the earlier, the lower index.
enum class PlacementOrder : std::uint8_t { begin, size, life, area };

/// Which free gap is taken: the one at the lowest offset, or the smallest (of equals the lowest; an endless one is the
/// largest).
enum class Fit : std::uint8_t { lowest, tightest };

/// Bytes × steps, over all pieces.
[[nodiscard]] double area_of(const Item& item);

/// The items' indices in `order`.
[[nodiscard]] std::vector<std::size_t> in_order(const Problem& problem, PlacementOrder order);

/// Places the items one after the other, each once and for all. Nothing when one fits nowhere or the bench is told to
/// stop on the way.
std::optional<std::vector<Position>> place_greedily(const Bench& bench, PlacementOrder order, Fit fit);

/// In order of begin, each in the tightest gap.
void solve_online_best_fit(Bench& bench);
/// The largest first, each in the lowest gap. Where no solver of another kind applies, this one does.
void solve_first_fit_by_size(Bench& bench);

/// Positions to keep, by item, in the order in which they are tried.
struct KeptPositions {
  std::vector<std::optional<Position>> positions;  ///< Absent: to be placed anew.
  std::vector<std::size_t> must_stay;              ///< Tried first, and nothing else will do.
};

/// Leaves the items where they are to be kept, as far as that is possible, larger ones first; places the others by size
/// at the lowest gap. Fails with `ErrorCode::invalid` when one of `must_stay` cannot lie there; nothing when another
/// fits nowhere.
Result<std::optional<std::vector<Position>>> place_keeping(const Bench& bench, const KeptPositions& kept);

/// Why an item may not lie at a position even when it is alone; empty when it may.
[[nodiscard]] std::string why_not_at(const Problem& problem, std::size_t item, Position at);

}  // namespace stowage::pack
