#pragma once

#include "runtime/heap/span_heap.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

struct SnapshotOf {
  DeviceId device;
  StreamId stream;
};

/// The contents of a heap; its runs become segments.
[[nodiscard]] MemorySnapshot snapshot_of(const SpanHeap& books, SnapshotOf of);

}  // namespace stowage::runtime
