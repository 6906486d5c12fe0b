#include "runtime/heap/policy.hpp"

#include <algorithm>
#include <utility>

namespace stowage::runtime {
namespace {

bool within_slack(Bytes reserved, const Policy& policy) {
  return static_cast<double>(reserved.value()) <= (1 + policy.slack) * static_cast<double>(policy.needed.value());
}

/// What growth by that many bytes would really take.
Bytes in_pages(const PageSpace& space, Bytes size) {
  const std::int64_t page = space.page_size(size).value();
  return Bytes((size.value() + page - 1) / page * page);
}

/// How many bytes stitching lacks.
Bytes lacking(const PageSpace& space, Bytes size, std::span<const Tenant> tenants) {
  return size - std::min(size, space.idle_pages(idle_of(tenants)));
}

}  // namespace

Result<Span*> serve(PageSpace& space, const PageSpace::Request& request, std::span<const Tenant> tenants, const Policy& policy) {
  SpanHeap& heap = *tenants.front().books;
  const auto [size, requested] = request;
  const Bytes to_extend = space.shortfall(size, idle_of(tenants));
  const Bytes to_stitch = lacking(space, size, tenants);
  const bool is_slack = within_slack(space.reserved() + in_pages(space, to_extend), policy);
  if (!is_slack) {
    if (Span* const span = space.take_run(request, tenants)) return span;
  }
  Status grown = Done{};
  if (is_slack || in_pages(space, to_extend) <= in_pages(space, to_stitch)) {
    grown = space.grow(to_extend, heap);
    if (Span* const span = heap.take(size, requested)) return span;
    if (Span* const span = space.take_run(request, tenants)) return span;
  }
  if (Span* const span = space.take_in_view(request, tenants)) return span;
  // Some of what it takes may have come meanwhile: pages fill holes before they extend anything.
  if (const Bytes still = lacking(space, size, tenants); still > Bytes(0)) grown = space.grow(still, heap);
  STOWAGE_TRY(Span * span, space.take_stitched(request, tenants));
  if (span == nullptr) span = heap.take(size, requested);
  // Here the device has refused pages or a stream cannot wait for another, or memory without views lies apart.
  if (span == nullptr && grown) grown = space.grow(size, heap);
  if (span == nullptr) span = heap.take(size, requested);
  if (span != nullptr) return span;
  if (!grown) return std::move(grown).error();
  return Error{ErrorCode::out_of_memory, "what is idle lies apart", {}};
}

Result<Span*> serve_by_growth(PageSpace& space, const PageSpace::Request& request, const Tenant& tenant) {
  const auto [size, requested] = request;
  STOWAGE_TRY_STATUS(space.grow(space.shortfall(size, idle_of({&tenant, 1})), *tenant.books));
  if (Span* const span = tenant.books->take(size, requested)) return span;
  STOWAGE_TRY_STATUS(space.grow(size, *tenant.books));  // the pages before filled holes
  if (Span* const span = tenant.books->take(size, requested)) return span;
  return Error{ErrorCode::out_of_memory, "what is idle lies apart", {}};
}

}  // namespace stowage::runtime
