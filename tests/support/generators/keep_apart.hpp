#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// Builds the graph, in `percent` of all cases with some pairs of tensors that are to be kept apart: views, members of
/// groups, inputs and outputs of one op, and others. Equal seeds give equal pairs. Pairs that the graph itself rules
/// out are left out.
[[nodiscard]] Result<Graph> build_keeping_apart(GraphDescription graph, std::uint64_t seed, std::size_t percent);

}  // namespace stowage::testing
