#pragma once

#include <cstddef>
#include <span>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// The problem of these items (ascending, without duplicates) alone, numbered in this order: their rows of the stream
/// order, the joins and apart pairs among them, the regions and the capacity of the whole. O(items + pairs).
[[nodiscard]] Problem subproblem(const Problem& problem, std::span<const std::size_t> items);

}  // namespace stowage::pack
