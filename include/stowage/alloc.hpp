#pragma once

/// Allocation for graphs: offsets without memory, linear allocation in a buffer, buffers for
/// permanent tensors, addresses for a whole graph, and graphs over several backends.

#include "stowage/alloc/address.hpp"
#include "stowage/alloc/allocate_all.hpp"
#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/alloc/linear_allocator.hpp"
#include "stowage/alloc/offset_allocator.hpp"
#include "stowage/alloc/partition.hpp"
#include "stowage/alloc/scheduler.hpp"
