#include "runtime/heap/policy.hpp"

#include <algorithm>

namespace stowage::runtime {
namespace {

Bytes round_to(Bytes size, Bytes page) { return Bytes((size.value() + page.value() - 1) / page.value() * page.value()); }

bool within_slack(Bytes reserved, const Footprint& footprint, const Policy& policy) {
  return static_cast<double>(reserved.value()) <= (1 + policy.slack) * static_cast<double>(footprint.needed.value());
}

}  // namespace

Result<Span*> serve(PagedHeap& heap, Bytes size, Bytes requested, const Footprint& footprint, const Policy& policy) {
  const Bytes page = heap.page_size(footprint.reserved);
  const Bytes to_extend = round_to(heap.shortfall(size), page);
  const Bytes idle = heap.idle_pages();
  const Bytes to_stitch = size > idle ? round_to(size - idle, page) : Bytes(0);
  Status grown = Done{};
  if (to_extend <= to_stitch || within_slack(footprint.reserved + to_extend, footprint, policy)) {
    grown = heap.grow(to_extend, page);
    if (Span* const span = heap.take(size, requested)) return span;
  }
  if (Span* const span = heap.take_in_view(size, requested)) return span;
  if (grown && to_stitch > Bytes(0)) grown = heap.grow(to_stitch, page);
  STOWAGE_TRY(Span* const span, heap.take_stitched(size, requested));
  if (span != nullptr) return span;
  // Here the device has refused pages, or pages of a heap without views lie apart.
  if (grown) grown = heap.grow(round_to(heap.shortfall(size), page), page);
  if (Span* const late = heap.take(size, requested)) return late;
  if (!grown) return std::move(grown).error();
  return Error{ErrorCode::out_of_memory, "a heap grew and has no room", {}};
}

}  // namespace stowage::runtime
