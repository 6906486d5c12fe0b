#pragma once

#include <vector>

#include "stowage/plan.hpp"

namespace stowage {

/// The same occupied area as `rectangles`, as pieces of which no two overlap; adjacent ones are joined where steps or bytes
/// agree. O(n log n) when all rectangles have the same bytes, as in chains of in-place ops of one size; O(n²) otherwise.
[[nodiscard]] std::vector<Piece> disjoint_pieces(std::vector<Piece> rectangles);

}  // namespace stowage
