#pragma once

#include <vector>

#include "stowage/plan.hpp"

namespace stowage {

/// The same occupied area as `rectangles`, as pieces of which no two overlap; adjacent ones are joined where steps or
/// bytes agree. O((n + pieces) log n).
[[nodiscard]] std::vector<Piece> disjoint_pieces(std::vector<Piece> rectangles);

}  // namespace stowage
