#pragma once

#include "runtime/heap/page_space.hpp"

/// Decides how to serve a request that fits no idle span of its heap: grow, take bytes from other heaps, or stitch.
///
/// Growing at the end costs one call per page, avoids fragmentation and makes no stream wait; the other ways save
/// memory. So:
/// 1. Grow, as long as the reserved bytes stay within a small slack above the largest amount ever needed at once.
/// 2. Otherwise take a contiguous idle run, whichever heaps own it.
/// 3. Otherwise grow at the end, if stitching would have to grow by as much.
/// 4. Otherwise stitch, and grow by what stitching lacks.
namespace stowage::runtime {

struct Policy {
  double slack = 0.005;
  Bytes needed;  ///< The largest number of live bytes so far, including this request.
};

/// Fails as the device does; the space may have grown by then.
Result<Span*> serve(PageSpace& space, Miss miss, const Policy& policy);

/// Serves by growth alone: for a stream that must not wait for others while nobody may ask the device about streams.
/// Fails as `serve` does. Precondition: the miss has one tenant.
Result<Span*> serve_by_growth(PageSpace& space, Miss miss);

}  // namespace stowage::runtime
