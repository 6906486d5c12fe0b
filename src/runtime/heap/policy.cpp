#include "runtime/heap/policy.hpp"

#include <algorithm>
#include <utility>

namespace stowage::runtime {
namespace {

bool within_slack(Bytes reserved, const Policy& policy) {
  return static_cast<double>(reserved.value()) <= (1 + policy.slack) * static_cast<double>(policy.needed.value());
}

/// The bytes that growing by `size` really adds.
Bytes in_pages(const PageSpace& space, Bytes size) {
  const std::int64_t page = space.page_size(size).value();
  return Bytes((size.value() + page - 1) / page * page);
}

/// How many more bytes of idle pages stitching needs.
Bytes lacking(const PageSpace& space, Miss& miss) { return miss.size - std::min(miss.size, space.idle_pages(miss)); }

Span* take_idle(const Miss& miss) { return miss.heap().take(miss.size, miss.requested); }

Error fragmented() { return {ErrorCode::out_of_memory, "the free memory is fragmented", {}}; }

}  // namespace

Result<Span*> serve(PageSpace& space, Miss miss, const Policy& policy) {
  const Bytes to_extend = space.shortfall(miss);
  const Bytes to_stitch = lacking(space, miss);
  const bool is_slack = within_slack(space.reserved() + in_pages(space, to_extend), policy);
  if (!is_slack) {
    if (Span* const span = space.take_run(miss)) return span;
  }
  Status grown = Done{};
  if (is_slack || in_pages(space, to_extend) <= in_pages(space, to_stitch)) {
    grown = space.grow(to_extend, miss);
    if (Span* const span = take_idle(miss)) return span;
    if (Span* const span = space.take_run(miss)) return span;
  }
  if (Span* const span = space.take_in_stitch(miss)) return span;
  // Growing may have added some of them already: new pages fill gaps before they extend the end.
  if (const Bytes still = lacking(space, miss); still > Bytes(0)) grown = space.grow(still, miss);
  STOWAGE_TRY(Span * span, space.take_stitched(miss));
  if (span == nullptr) span = take_idle(miss);
  // Reached if the device refused pages, a stream cannot wait for another, or unpaged memory is fragmented.
  if (span == nullptr && grown) grown = space.grow(miss.size, miss);
  if (span == nullptr) span = take_idle(miss);
  if (span != nullptr) return span;
  if (!grown) return std::move(grown).error();
  return fragmented();
}

Result<Span*> serve_by_growth(PageSpace& space, Miss miss) {
  STOWAGE_TRY_STATUS(space.grow(space.shortfall(miss), miss));
  if (Span* const span = take_idle(miss)) return span;
  STOWAGE_TRY_STATUS(space.grow(miss.size, miss));  // the first pages filled gaps
  if (Span* const span = take_idle(miss)) return span;
  return fragmented();
}

}  // namespace stowage::runtime
