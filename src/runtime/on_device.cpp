#include "runtime/on_device.hpp"

#include <fmt/format.h>

namespace stowage::runtime {

std::unique_ptr<PhysicalPool> make_pool(Device& device, std::optional<Bytes> limit) {
  if (device.virtual_memory() == nullptr) return nullptr;
  return std::make_unique<PhysicalPool>(*device.virtual_memory(), limit);
}

std::optional<Error> refuse_pool(const Device& device, const PhysicalPool* pool) {
  if (pool == nullptr || pool->memory().device() == device.id()) return std::nullopt;
  return Error{ErrorCode::invalid,
               fmt::format("the allocator is on device {}, but its pages are on device {}", device.id().index(),
                           pool->memory().device().index()),
               {}};
}

Bytes least_page_of(const PhysicalPool* pool, Bytes wish) {
  return pool == nullptr ? wish : align_up(wish, pool->memory().granularity());
}

bool is_quiet(Device& device, StreamId stream) {
  const Result<EventId> now = device.record(stream);
  if (!now) return false;
  const Result<bool> complete = device.is_complete(*now);
  device.forget(*now);
  return complete && *complete;
}

Result<std::byte*> answer_without_memory(Bytes size) {
  if (size == Bytes(0)) return nullptr;
  const ErrorCode code = size < Bytes(0) ? ErrorCode::invalid : ErrorCode::out_of_memory;
  return Error{code, fmt::format("{} bytes requested", size.value()), {}};
}

}  // namespace stowage::runtime
