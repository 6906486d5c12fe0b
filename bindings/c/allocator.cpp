#include <algorithm>
#include <memory>

#include "boundary.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime.hpp"

struct stowage_device {
  std::shared_ptr<stowage::Device> device;
};

struct stowage_allocator {
  std::shared_ptr<stowage::Device> device;  // first: the allocator's memory is the device's
  std::unique_ptr<stowage::Allocator> allocator;
};

namespace stowage::c {
namespace {

std::optional<Bytes> present(std::int64_t bytes) { return bytes == 0 ? std::nullopt : std::optional(Bytes(bytes)); }

Status check_options(const stowage_allocator_options& from) {
  constexpr std::int64_t kLeastAlignment = 64;
  const bool aligned =
      from.alignment == 0 || (is_power_of_two(Bytes(from.alignment)) && from.alignment >= kLeastAlignment);
  if (!aligned) return Error{ErrorCode::invalid, "the alignment is not a power of two of 64 or more", {}};
  if (from.least_page < 0 || from.limit < 0)
    return Error{ErrorCode::invalid, "a size in stowage_allocator_options is negative", {}};
  if (!(from.slack >= 0)) return Error{ErrorCode::invalid, "the slack is not a number of 0 or more", {}};
  return Done{};
}

/// What both kinds of options have.
template <class Options>
void read_options(const stowage_allocator_options& from, Options& to) {
  if (from.alignment != 0) to.alignment = Bytes(from.alignment);
  if (from.least_page != 0) to.least_page = Bytes(from.least_page);
  if (from.slack != 0) to.slack = from.slack;
  to.limit = present(from.limit);
}

template <class Kind, class Options>
Status make_allocator(const stowage_device* device, const stowage_allocator_options& from, Options options,
                      stowage_allocator** to) {
  STOWAGE_TRY_STATUS(check_options(from));
  read_options(from, options);
  *to = new stowage_allocator{device->device, std::make_unique<Kind>(*device->device, options)};
  return Done{};
}

Status check_arguments(const stowage_device* device, stowage_allocator** allocator) {
  if (!device) return null_argument("device");
  if (!allocator) return null_argument("allocator");
  return Done{};
}

stowage_allocator_stats figures_of(const AllocatorStats& stats) {
  stowage_allocator_stats result{};
  result.requested = stats.requested.value();
  result.rounded = stats.rounded.value();
  result.reserved = stats.reserved.value();
  result.requested_peak = stats.requested_peak.value();
  result.rounded_peak = stats.rounded_peak.value();
  result.reserved_peak = stats.reserved_peak.value();
  result.largest_idle = stats.largest_idle.value();
  result.live = stats.live;
  result.allocations = stats.allocations;
  result.failures = stats.failures;
  return result;
}

}  // namespace
}  // namespace stowage::c

using namespace stowage;
using namespace stowage::c;

extern "C" {

stowage_status* stowage_device_open(const char* name, int32_t ordinal, int64_t limit, stowage_device** device) {
  return guarded([&]() -> Status {
    if (!name) return null_argument("name");
    if (!device) return null_argument("device");
    if (limit < 0) return Error{ErrorCode::invalid, "the limit is negative", {}};
    STOWAGE_TRY(std::shared_ptr<Device> opened, open_device(name, {.ordinal = ordinal, .memory = present(limit)}));
    *device = new stowage_device{std::move(opened)};
    return Done{};
  });
}

void stowage_device_free(stowage_device* device) { delete device; }

stowage_status* stowage_caching_allocator_make(const stowage_device* device, const stowage_allocator_options* options,
                                               stowage_allocator** allocator) {
  return guarded([&]() -> Status {
    STOWAGE_TRY_STATUS(check_arguments(device, allocator));
    STOWAGE_TRY(const stowage_allocator_options from, read_struct(options, "stowage_allocator_options"));
    const CachingOptions caching{.stream = StreamId(from.stream), .any_thread = from.any_thread != 0};
    return make_allocator<CachingAllocator>(device, from, caching, allocator);
  });
}

stowage_status* stowage_stream_allocator_make(const stowage_device* device, const stowage_allocator_options* options,
                                              stowage_allocator** allocator) {
  return guarded([&]() -> Status {
    STOWAGE_TRY_STATUS(check_arguments(device, allocator));
    STOWAGE_TRY(const stowage_allocator_options from, read_struct(options, "stowage_allocator_options"));
    return make_allocator<StreamAllocator>(device, from, StreamOptions{}, allocator);
  });
}

stowage_status* stowage_allocate(stowage_allocator* allocator, int64_t size, uint32_t stream, void** address) {
  return guarded([&]() -> Status {
    if (!allocator) return null_argument("allocator");
    if (!address) return null_argument("address");
    STOWAGE_TRY(std::byte* const allocated, allocator->allocator->allocate(Bytes(size), StreamId(stream)));
    *address = allocated;
    return Done{};
  });
}

void stowage_free(stowage_allocator* allocator, void* address, int64_t size, uint32_t stream) {
  if (allocator) allocator->allocator->free(static_cast<std::byte*>(address), Bytes(size), StreamId(stream));
}

stowage_status* stowage_record_use(stowage_allocator* allocator, void* address, uint32_t stream) {
  return guarded([&]() -> Status {
    if (!allocator) return null_argument("allocator");
    return allocator->allocator->record_use(static_cast<std::byte*>(address), StreamId(stream));
  });
}

int64_t stowage_trim(stowage_allocator* allocator) { return allocator ? allocator->allocator->trim().value() : 0; }

stowage_status* stowage_allocator_figures(const stowage_allocator* allocator, stowage_allocator_stats* stats) {
  return guarded([&]() -> Status {
    if (!allocator) return null_argument("allocator");
    if (!stats) return null_argument("stats");
    STOWAGE_TRY_STATUS(check_size_set(*stats, "stowage_allocator_stats"));
    write_struct(stats, figures_of(allocator->allocator->stats()));
    return Done{};
  });
}

void stowage_allocator_free(stowage_allocator* allocator) { delete allocator; }

}  // extern "C"
