#pragma once

#include <vector>

#include "lower/interface/lower.hpp"

namespace stowage {

/// The pairs of tensors that the graph keeps apart, as bytes of items of the arena; ascending. Pairs in one item are
/// left out: the layout keeps those apart. Precondition: the arena has all its items. O(occupants + pairs × log pairs).
[[nodiscard]] std::vector<ApartPair> find_apart(const Graph& graph, const Layout& layout, const ArenaProblem& arena);

}  // namespace stowage
