#pragma once

#include <memory>

#include "stowage/memory.hpp"
#include "stowage/replay.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::replaying {

/// A `PlanAheadAllocator` over a `StreamAllocator`, for replays. It finds the iterations by itself: an iteration has as
/// many allocations as the trace and ends when all of them are freed. Without a trace there are no iterations. For one
/// thread at a time.
Result<std::unique_ptr<Allocator>> make_planned_replay(Device& device, const Trace* expected);

}  // namespace stowage::replaying
