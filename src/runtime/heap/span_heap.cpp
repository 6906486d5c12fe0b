#include "runtime/heap/span_heap.hpp"

namespace stowage::runtime {

Span* SpanHeap::take_pieces(std::span<const Piece> pieces, std::byte* shown, std::uint32_t stitch, Bytes requested) {
  Span* first = nullptr;
  Span* last = nullptr;
  for (const Piece& piece : pieces) {
    Span* const span = isolate(span_with(piece.address), piece.address, piece.size);
    span->state = SpanState::piece;
    span->next = nullptr;
    live_ += span->size;
    (last == nullptr ? first : last->next) = span;
    last = span;
  }
  first->state = SpanState::live;
  first->stitch = stitch;
  first->requested = requested;
  first->shown = shown;
  requested_ += requested;
  table_.insert(first);
  return first;
}

/// Splits an idle span so that exactly these bytes form a span, which is in no bin.
Span* SpanHeap::isolate(Span* idle, std::byte* address, Bytes size) {
  STOWAGE_CHECK(idle != nullptr && idle->state == SpanState::idle && idle->end() >= address + size.value(),
                "only idle bytes can be taken");
  bins_.remove(idle);
  if (idle->address < address) {
    Span* const lower = idle;
    idle = spans_.make();
    idle->address = address;
    idle->size = Bytes(lower->end() - address);
    lower->size -= idle->size;
    link(lower, idle, lower->after);
    bins_.insert(lower);
  }
  if (idle->size > size) split(idle, size);
  return idle;
}

// --------------------------------------------------------------------------------------------------------------- runs

Span* SpanHeap::sentinel(std::byte* address) {
  Span* const span = spans_.make();
  span->address = address;
  span->state = SpanState::away;
  return span;
}

void SpanHeap::add(std::byte* address, Bytes size) {
  Span* const span = spans_.make();
  span->address = address;
  span->size = size;
  SpanRun& run = run_ending_at(address);
  Span* const tail = run.tail;
  Span* const last = tail->before;
  if (const auto next = runs_.find(span->end()); next != runs_.end()) {
    link(last, span, next->second.head->after);
    spans_.drop(tail);
    spans_.drop(next->second.head);
    run.tail = next->second.tail;
    runs_.erase(next);
  } else {
    tail->address = span->end();
    link(last, span, tail);
  }
  span->state = SpanState::live;  // as if it had been allocated: freeing it merges it
  free_span(span);
}

/// The run that ends at this address; a new, empty one if there is none.
SpanHeap::SpanRun& SpanHeap::run_ending_at(std::byte* address) {
  if (const auto run = run_with(address - 1); run != runs_.end()) return runs_.find(run->first)->second;
  SpanRun& run = runs_[address];
  run = {sentinel(address), sentinel(address)};
  run.head->after = run.tail;
  run.tail->before = run.head;
  return run;
}

void SpanHeap::cut(std::byte* address, Bytes size) {
  const auto run = run_with(address);
  Span* const span = isolate(span_with(address), address, size);
  const SpanRun whole = run->second;
  runs_.erase(run);
  if (span->before != whole.head) {
    Span* const tail = sentinel(address);
    tail->before = span->before;
    span->before->after = tail;
    runs_.emplace(whole.head->after->address, SpanRun{whole.head, tail});
  } else {
    spans_.drop(whole.head);
  }
  if (span->after != whole.tail) {
    Span* const head = sentinel(span->end());
    head->after = span->after;
    span->after->before = head;
    runs_.emplace(span->end(), SpanRun{head, whole.tail});
  } else {
    spans_.drop(whole.tail);
  }
  spans_.drop(span);
}

SpanHeap::Runs::const_iterator SpanHeap::run_with(const std::byte* address) const {
  auto run = runs_.upper_bound(const_cast<std::byte*>(address));
  if (run == runs_.begin()) return runs_.end();
  --run;
  return address < run->second.tail->address ? run : runs_.end();
}

Span* SpanHeap::span_with(const std::byte* address) const {
  const auto run = run_with(address);
  if (run == runs_.end()) return nullptr;
  Span* span = run->second.head->after;
  while (span->end() <= address) span = span->after;
  return span;
}

// ------------------------------------------------------------------------------------------------------------ queries

const Span* SpanHeap::at(const std::byte* address) const { return span_with(address); }

void SpanHeap::for_each(const std::function<void(const Span&)>& visit) const {
  for (const auto& [address, run] : runs_) {
    for (const Span* span = run.head->after; span != run.tail; span = span->after) visit(*span);
  }
}

}  // namespace stowage::runtime
