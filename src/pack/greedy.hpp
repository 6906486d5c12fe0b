#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pack/solver.hpp"

namespace stowage::pack {

/// Who comes first. Pinned items always do; ties go to the larger, the earlier, the lower index.
enum class Order : std::uint8_t { begin, size, life, area };

/// Which free gap is taken: the one at the lowest offset, or the smallest (of equals the lowest; an endless one is the largest).
enum class Fit : std::uint8_t { lowest, tightest };

/// The items' indices in `order`.
[[nodiscard]] std::vector<std::size_t> in_order(const Problem& problem, Order order);

/// Places the items one after the other, each once and for all. Nothing when one fits nowhere or the bench is told to stop on the
/// way.
std::optional<std::vector<Position>> place_greedily(const Bench& bench, Order order, Fit fit);

}  // namespace stowage::pack
