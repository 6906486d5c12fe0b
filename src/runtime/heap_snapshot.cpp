#include "runtime/heap_snapshot.hpp"

#include <algorithm>

namespace stowage::runtime {
namespace {

using State = MemorySnapshot::BlockState;

State state_of(const Span& span) {
  if (span.state == SpanState::idle) return State::idle;
  return span.pending ? State::pending : State::live;
}

/// A stitched allocation as its user sees it.
MemorySnapshot::Segment stitched(const Span& first, StreamId stream) {
  Bytes size(0);
  for (const Span* piece = &first; piece != nullptr; piece = piece->next) size += piece->size;
  return {.address = first.shown,
          .size = size,
          .stream = stream,
          .stitched = true,
          .blocks = {{.address = first.shown, .size = size, .requested = first.requested, .state = state_of(first)}}};
}

}  // namespace

MemorySnapshot snapshot_of(const SpanHeap& heap, HeapOwner owner) {
  MemorySnapshot snapshot{.device = owner.device, .segments = {}};
  std::vector<MemorySnapshot::Segment> stitches;
  heap.for_each([&](const Span& span) {
    auto& segments = snapshot.segments;
    if (segments.empty() || segments.back().address + segments.back().size.value() != span.address) {
      segments.push_back(
          {.address = span.address, .size = {}, .stream = owner.stream, .stitched = false, .blocks = {}});
    }
    const bool is_piece = span.state == SpanState::piece || span.stitch != 0;
    const Bytes requested = span.state == SpanState::idle ? Bytes(0) : (is_piece ? span.size : span.requested);
    segments.back().size += span.size;
    segments.back().blocks.push_back(
        {.address = span.address, .size = span.size, .requested = requested, .state = state_of(span)});
    if (span.stitch != 0) stitches.push_back(stitched(span, owner.stream));
  });
  std::ranges::move(stitches, std::back_inserter(snapshot.segments));
  return snapshot;
}

}  // namespace stowage::runtime
