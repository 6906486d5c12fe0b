#pragma once

/// Memory for tensors: offsets without memory behind them, linear allocation in a buffer, buffers
/// for long-lived tensors such as weights, addresses for a whole graph, and graphs that are spread
/// over several backends.

#include "stowage/alloc/address.hpp"
#include "stowage/alloc/allocate_all.hpp"
#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/alloc/linear_allocator.hpp"
#include "stowage/alloc/offset_allocator.hpp"
#include "stowage/alloc/partition.hpp"
#include "stowage/alloc/run.hpp"
#include "stowage/alloc/scheduler.hpp"
