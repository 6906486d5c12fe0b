#pragma once

#include "runtime/heap/span_heap.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

struct SnapshotOf {
  DeviceId device;
  StreamId stream;
};

/// What lies where in a heap: its runs as segments.
[[nodiscard]] MemorySnapshot snapshot_of(const SpanHeap& books, SnapshotOf of);

}  // namespace stowage::runtime
