#pragma once

#include "runtime/heap/paged_heap.hpp"

/// What a heap does for a request that fits none of its idle spans: grow, or stitch.
///
/// Growth by a span at the end is one call a page and keeps the heap in one piece, stitching saves memory. So the heap grows as
/// long as what is reserved stays within a small slack of what has been needed at once, or where stitching would have to grow by
/// as much; beyond that it stitches, and grows by what stitching lacks.
namespace stowage::runtime {

/// What all heaps of a device have together.
struct Footprint {
  Bytes reserved;
  Bytes needed;  ///< The most bytes that were live at once, this request included.
};

struct Policy {
  double slack = 0.01;
};

/// Fails as the device does; the heap may have grown.
Result<Span*> serve(PagedHeap& heap, Bytes size, Bytes requested, const Footprint& footprint, const Policy& policy);

}  // namespace stowage::runtime
