#pragma once

/// Dynamic allocators of device memory, for work whose sizes are known only at run time.
/// docs/runtime.md follows one allocation.
#include "stowage/runtime/adaptors.hpp"
#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/caching_allocator.hpp"
#include "stowage/runtime/physical_pool.hpp"
#include "stowage/runtime/plan_ahead.hpp"
#include "stowage/runtime/pmr.hpp"
#include "stowage/runtime/session_arena.hpp"
#include "stowage/runtime/stream_allocator.hpp"
