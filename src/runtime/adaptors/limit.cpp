#include <algorithm>

#include <fmt/format.h>

#include "runtime/adaptors/rounded.hpp"
#include "stowage/runtime/adaptors.hpp"

namespace stowage {

/// Reserves the bytes if there is room. The count never exceeds the limit, not even briefly, since concurrent requests
/// would then be refused wrongly.
bool LimitAdaptor::take(Bytes rounded) {
  std::int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (rounded > limit_ - Bytes(used)) return false;
  } while (!used_.compare_exchange_weak(used, used + rounded.value(), std::memory_order_relaxed));
  return true;
}

Result<std::byte*> LimitAdaptor::allocate(Bytes size, StreamId stream) {
  if (size <= Bytes(0)) return wrapped().allocate(size, stream);
  const Bytes needed = runtime::rounded(size, alignment());
  if (!take(needed)) {
    refusals_.fetch_add(1, std::memory_order_relaxed);
    return Error{ErrorCode::out_of_memory,
                 fmt::format("limit: {} bytes requested, {} when rounded; {} of {} are live", size.value(),
                             needed.value(), used().value(), limit_.value()),
                 {}};
  }
  Result<std::byte*> address = wrapped().allocate(size, stream);
  if (!address) used_.fetch_sub(needed.value(), std::memory_order_relaxed);
  return address;
}

void LimitAdaptor::free(std::byte* address, Bytes size, StreamId stream) {
  wrapped().free(address, size, stream);
  if (address != nullptr) used_.fetch_sub(runtime::rounded(size, alignment()).value(), std::memory_order_relaxed);
}

AllocatorStats LimitAdaptor::stats() const {
  AllocatorStats stats = wrapped().stats();
  stats.failures += refusals_.load(std::memory_order_relaxed);
  stats.largest_idle = std::clamp(limit_ - used(), Bytes(0), stats.largest_idle);
  return stats;
}

void LimitAdaptor::reset_peaks() {
  wrapped().reset_peaks();
  refusals_.store(0, std::memory_order_relaxed);
}

}  // namespace stowage
