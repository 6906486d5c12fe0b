#pragma once

#include "runtime/heap/page_space.hpp"

/// What is done for a request that fits no idle span of its heap: grow, take from other heaps, or stitch.
///
/// Growth by a span at the end is one call per page, keeps memory in one piece and makes no stream wait; the others
/// save memory. So memory grows as long as what is reserved stays within a small slack of what has been needed at once.
/// Beyond that the request gets idle bytes in one piece, whoever has them; where there are none, the space grows if
/// stitching would have to grow it by as much, and else stitches, growing by what stitching lacks.
namespace stowage::runtime {

struct Policy {
  double slack = 0.005;
  Bytes needed;  ///< The most bytes that were live at once, this request included.
};

/// Fails as the device does; the space may have grown.
Result<Span*> serve(PageSpace& space, Miss miss, const Policy& policy);

/// By growth alone: for a stream that must not wait for others, while nobody may look at how far streams are. Fails
/// likewise. Precondition: the miss has one tenant.
Result<Span*> serve_by_growth(PageSpace& space, Miss miss);

}  // namespace stowage::runtime
