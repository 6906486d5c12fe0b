#pragma once

#include "runtime/heap/span_heap.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

/// Whose memory a heap manages.
struct HeapOwner {
  DeviceId device;
  StreamId stream;
};

/// The contents of a heap: each contiguous range of addresses that it manages is one segment.
[[nodiscard]] MemorySnapshot snapshot_of(const SpanHeap& heap, HeapOwner owner);

}  // namespace stowage::runtime
