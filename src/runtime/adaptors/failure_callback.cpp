#include <utility>

#include "stowage/runtime/adaptors.hpp"

namespace stowage {

FailureCallbackAdaptor::FailureCallbackAdaptor(Allocator& wrapped, Callback callback)
    : AllocatorAdaptor(wrapped), callback_(std::move(callback)) {}

Result<std::byte*> FailureCallbackAdaptor::allocate(Bytes size, StreamId stream) {
  Result<std::byte*> address = wrapped().allocate(size, stream);
  while (!address && address.error().code == ErrorCode::out_of_memory && callback_ &&
         callback_(size, stream, address.error())) {
    address = wrapped().allocate(size, stream);
  }
  if (!address) failures_.fetch_add(1, std::memory_order_relaxed);
  return address;
}

AllocatorStats FailureCallbackAdaptor::stats() const {
  AllocatorStats stats = wrapped().stats();
  stats.failures = failures_.load(std::memory_order_relaxed);
  return stats;
}

void FailureCallbackAdaptor::reset_peaks() {
  wrapped().reset_peaks();
  failures_.store(0, std::memory_order_relaxed);
}

}  // namespace stowage
