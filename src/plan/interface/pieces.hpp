#pragma once

#include <vector>

#include "stowage/plan.hpp"

namespace stowage {

/// The area that `rectangles` occupy, as pieces of which no two overlap. Adjacent pieces are joined if they have the
/// same steps or the same bytes. O((n + pieces) log n).
[[nodiscard]] std::vector<Piece> disjoint_pieces(std::vector<Piece> rectangles);

}  // namespace stowage
