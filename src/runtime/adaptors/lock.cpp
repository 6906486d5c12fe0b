#include "stowage/runtime/adaptors.hpp"

namespace stowage {

Result<std::byte*> LockAdaptor::allocate(Bytes size, StreamId stream) {
  const std::lock_guard lock(mutex_);
  return wrapped().allocate(size, stream);
}

void LockAdaptor::free(std::byte* address, Bytes size, StreamId stream) {
  const std::lock_guard lock(mutex_);
  wrapped().free(address, size, stream);
}

Status LockAdaptor::record_use(std::byte* address, StreamId stream) {
  const std::lock_guard lock(mutex_);
  return wrapped().record_use(address, stream);
}

Bytes LockAdaptor::trim() {
  const std::lock_guard lock(mutex_);
  return wrapped().trim();
}

AllocatorStats LockAdaptor::stats() const {
  const std::lock_guard lock(mutex_);
  return wrapped().stats();
}

void LockAdaptor::reset_peaks() {
  const std::lock_guard lock(mutex_);
  wrapped().reset_peaks();
}

MemorySnapshot LockAdaptor::snapshot() const {
  const std::lock_guard lock(mutex_);
  return wrapped().snapshot();
}

}  // namespace stowage
