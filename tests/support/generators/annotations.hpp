#pragma once

#include <cstdint>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// Gives some of the ops, tensors and memories, in bodies too, what rewrites and people know about them: costs,
/// origins, layers and lines of source; and some loops a trip count. Equal seeds give equal annotations.
void annotate(GraphDescription& graph, std::uint64_t seed);

/// Removes what planning must ignore, which is all of that except for trip counts.
void remove_annotations(GraphDescription& graph);

}  // namespace stowage::testing
