#include "runtime/heap_snapshot.hpp"

namespace stowage::runtime {

MemorySnapshot snapshot_of(const SpanHeap& books, SnapshotOf of) {
  MemorySnapshot snapshot{.device = of.device, .segments = {}};
  books.for_each([&](const Span& span) {
    auto& segments = snapshot.segments;
    if (segments.empty() || segments.back().address + segments.back().size.value() != span.address) {
      segments.push_back({.address = span.address, .size = {}, .stream = of.stream, .stitched = false, .blocks = {}});
    }
    const bool idle = span.state == SpanState::idle;
    segments.back().size += span.size;
    segments.back().blocks.push_back(
        {.address = span.address,
         .size = span.size,
         .requested = span.state == SpanState::piece ? span.size : (idle ? Bytes(0) : span.requested),
         .state = idle ? MemorySnapshot::BlockState::idle : MemorySnapshot::BlockState::live});
  });
  return snapshot;
}

}  // namespace stowage::runtime
