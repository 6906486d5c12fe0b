#pragma once

/// Hands out memory: offsets without memory behind them, places in a buffer one after the other,
/// buffers for tensors that stay, the addresses of a whole graph, and graphs over several backends.

#include "stowage/alloc/address.hpp"
#include "stowage/alloc/allocate_all.hpp"
#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/alloc/linear_allocator.hpp"
#include "stowage/alloc/offset_allocator.hpp"
#include "stowage/alloc/partition.hpp"
#include "stowage/alloc/scheduler.hpp"
