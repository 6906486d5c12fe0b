#pragma once

#include <functional>

#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/graph.hpp"

namespace stowage::alloc {

/// The address of a place in an arena; null where nobody has given it memory.
using PlaceAddress = std::function<Address(ArenaId, std::uint32_t region, Bytes offset)>;

/// Fills in where the clears and copies of `allocation.plan` work and what ops read from copies; the addresses of
/// tensors are known. `graph` is the one that is served.
void set_moves(const Graph& graph, const PlaceAddress& address_of, Allocation& allocation);

}  // namespace stowage::alloc
