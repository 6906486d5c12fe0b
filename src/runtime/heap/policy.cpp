#include "runtime/heap/policy.hpp"

#include <utility>

namespace stowage::runtime {
namespace {

Bytes round_to(Bytes size, Bytes page) { return Bytes((size.value() + page.value() - 1) / page.value() * page.value()); }

bool within_slack(Bytes reserved, const Policy& policy) {
  return static_cast<double>(reserved.value()) <= (1 + policy.slack) * static_cast<double>(policy.needed.value());
}

}  // namespace

Result<Span*> serve(PageSpace& space, const PageSpace::Request& request, std::span<const Tenant> tenants, const Policy& policy) {
  SpanHeap& heap = *tenants.front().books;
  const IdleMap idle = idle_of(tenants);
  const Bytes page = space.page_size();
  const Bytes to_extend = round_to(space.shortfall(request.size, idle), page);
  const Bytes idle_pages = space.idle_pages(idle);
  const Bytes to_stitch = request.size > idle_pages ? round_to(request.size - idle_pages, page) : Bytes(0);
  Status grown = Done{};
  if (!within_slack(space.reserved() + to_extend, policy)) {
    if (Span* const span = space.take_run(request, tenants)) return span;
  }
  if (to_extend <= to_stitch || within_slack(space.reserved() + to_extend, policy)) {
    grown = space.grow(to_extend, page, heap);
    if (Span* const span = space.take_run(request, tenants)) return span;
  }
  if (Span* const span = space.take_in_view(request, tenants)) return span;
  if (to_stitch > Bytes(0) && (grown || to_stitch < to_extend)) grown = space.grow(to_stitch, page, heap);
  STOWAGE_TRY(Span* const span, space.take_stitched(request, tenants));
  if (span != nullptr) return span;
  // Here the device has refused pages or a stream cannot wait for another, or memory without views lies apart.
  if (grown) grown = space.grow(round_to(request.size, page), page, heap);
  if (Span* const late = heap.take(request.size, request.requested)) return late;
  if (!grown) return std::move(grown).error();
  return Error{ErrorCode::out_of_memory, "what is idle lies apart", {}};
}

}  // namespace stowage::runtime
