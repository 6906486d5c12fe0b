/// Virtual memory through the driver: cuMemAddressReserve, cuMemCreate, cuMemMap.
///
/// The driver checks little and reports every wrong argument as CUDA_ERROR_INVALID_VALUE. So `PageTable` checks the
/// rules first, and only valid calls reach the driver. Two rules of the driver shape this file. A mapping always shows
/// a handle from its first byte on (the offset "currently must be zero"), which is why mapping a part is unsupported.
/// And mapped memory cannot be used before cuMemSetAccess, which takes tens of microseconds per call and hardly more
/// for a long range, which is why `map_all` makes one such call for the whole range.
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "memory/cuda/context.hpp"
#include "memory/interface/errors.hpp"
#include "memory/page_table.hpp"

namespace stowage::memory::cuda {
namespace {

/// More addresses than any process has; larger requests are refused without asking the driver.
constexpr Bytes kAddresses{std::int64_t{1} << 47};

class CudaVirtualMemory final : public VirtualMemory {
 public:
  CudaVirtualMemory(const DeviceContext& context, const AllocationProperties& properties, Bytes granularity)
      : context_(context),
        driver_(context.driver()),
        properties_(properties),
        table_(granularity, PhysicalId{context.first_id()}) {}

  ~CudaVirtualMemory() override;

  [[nodiscard]] DeviceId device() const override { return context_.id(); }
  [[nodiscard]] Bytes granularity() const override { return table_.granularity(); }
  [[nodiscard]] bool maps_parts() const override { return false; }

  Result<std::byte*> reserve(Bytes size) override;
  Status free(std::byte* address, Bytes size) override;
  Result<PhysicalId> create(Bytes size) override;
  Status release(PhysicalId physical) override;
  Status map(std::byte* address, PhysicalId physical, Bytes offset, Bytes size) override;
  Status map_all(std::byte* address, std::span<const PhysicalRange> ranges) override;
  Status unmap(std::byte* address, Bytes size) override;

 private:
  [[nodiscard]] Status check_whole(std::span<const PhysicalRange> ranges) const;
  /// Maps the ranges and gives the device access to them; all or nothing.
  Status show(std::byte* address, std::span<const PhysicalRange> ranges) const;
  /// Converts a driver error: `out_of_memory` also gets the device's name and the size.
  [[nodiscard]] Error failure(const Error& error, Bytes size) const;

  const DeviceContext& context_;
  const Driver& driver_;
  const AllocationProperties properties_;
  std::mutex mutex_;
  PageTable table_;
  std::unordered_map<PhysicalId, Handle> handles_;  ///< Of physical memory that is not released.
};

CudaVirtualMemory::~CudaVirtualMemory() {
  const Result<Scope> scope = context_.enter();
  if (!scope) return;
  for (const auto& [address, size] : table_.mappings())
    driver_.try_call<&Functions::cuMemUnmap>(Address{address}, count_of(size));
  for (const auto& [physical, handle] : handles_) driver_.try_call<&Functions::cuMemRelease>(handle);
  for (const auto& [address, size] : table_.reservations()) {
    driver_.try_call<&Functions::cuMemAddressFree>(Address{address}, count_of(size));
  }
}

Result<std::byte*> CudaVirtualMemory::reserve(Bytes size) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY_STATUS(table_.check_size(size));
  if (size > kAddresses) return out_of_memory(context_.name(), size, "the address space is smaller than that");
  STOWAGE_TRY(const Scope scope, context_.enter());
  const RelaxedCapture relaxed(driver_);
  Address address{};
  const Status reserved = driver_.call<&Functions::cuMemAddressReserve>(&address, count_of(size),
                                                                        count_of(granularity()), Address{0}, 0ULL);
  if (!reserved) return failure(reserved.error(), size);
  table_.reserve(pointer_to(address), size);
  return pointer_to(address);
}

Status CudaVirtualMemory::free(std::byte* address, Bytes size) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY_STATUS(table_.check_free(address, size));
  STOWAGE_TRY(const Scope scope, context_.enter());
  const RelaxedCapture relaxed(driver_);
  STOWAGE_TRY_STATUS(driver_.call<&Functions::cuMemAddressFree>(address_of(address), count_of(size)));
  table_.free(address);
  return Done{};
}

Result<PhysicalId> CudaVirtualMemory::create(Bytes size) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY_STATUS(table_.check_size(size));
  if (size > context_.info().memory) {
    return out_of_memory(context_.name(), size, fmt::format("the device has {} bytes", context_.info().memory.value()));
  }
  STOWAGE_TRY(const Scope scope, context_.enter());
  const RelaxedCapture relaxed(driver_);
  Handle handle{};
  const Status made = driver_.call<&Functions::cuMemCreate>(&handle, count_of(size), &properties_, 0ULL);
  if (!made) return failure(made.error(), size);
  const PhysicalId physical = table_.create(size);
  handles_.emplace(physical, handle);
  return physical;
}

/// The driver follows the same rule: memory whose handle is released is freed with its last mapping.
Status CudaVirtualMemory::release(PhysicalId physical) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY_STATUS(table_.check_release(physical));
  STOWAGE_TRY(const Scope scope, context_.enter());
  const RelaxedCapture relaxed(driver_);
  const auto handle = handles_.find(physical);
  STOWAGE_TRY_STATUS(driver_.call<&Functions::cuMemRelease>(handle->second));
  handles_.erase(handle);
  table_.release(physical);
  return Done{};
}

Status CudaVirtualMemory::map(std::byte* address, PhysicalId physical, Bytes offset, Bytes size) {
  const PhysicalRange range{physical, offset, size};
  return map_all(address, {&range, 1});
}

Status CudaVirtualMemory::map_all(std::byte* address, std::span<const PhysicalRange> ranges) {
  if (ranges.empty()) return Done{};
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY_STATUS(table_.check_map_all(address, ranges));
  STOWAGE_TRY_STATUS(check_whole(ranges));
  STOWAGE_TRY(const Scope scope, context_.enter());
  const RelaxedCapture relaxed(driver_);
  STOWAGE_TRY_STATUS(show(address, ranges));
  for (const PhysicalRange& range : ranges) {
    table_.map(address, range.physical, range.size);
    address += range.size.value();
  }
  return Done{};
}

Status CudaVirtualMemory::unmap(std::byte* address, Bytes size) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY_STATUS(table_.check_unmap(address, size));
  STOWAGE_TRY(const Scope scope, context_.enter());
  const RelaxedCapture relaxed(driver_);
  STOWAGE_TRY_STATUS(driver_.call<&Functions::cuMemUnmap>(address_of(address), count_of(size)));
  table_.unmap(address, size);
  return Done{};
}

Status CudaVirtualMemory::check_whole(std::span<const PhysicalRange> ranges) const {
  for (const PhysicalRange& range : ranges) {
    const Bytes whole = table_.size_of(range.physical);
    if (range.offset == Bytes(0) && range.size == whole) continue;
    return Error{
        ErrorCode::unsupported,
        fmt::format(
            "{}: cannot map {} bytes from offset {} of physical memory of {} bytes: CUDA maps all of it or nothing",
            context_.name(), range.size.value(), range.offset.value(), whole.value()),
        {}};
  }
  return Done{};
}

Status CudaVirtualMemory::show(std::byte* address, std::span<const PhysicalRange> ranges) const {
  Bytes done;
  Status status = Done{};
  for (const PhysicalRange& range : ranges) {
    status = driver_.call<&Functions::cuMemMap>(address_of(address + done.value()), count_of(range.size),
                                                std::size_t{0}, handles_.find(range.physical)->second, 0ULL);
    if (!status) break;
    done += range.size;
  }
  const AccessDescription access{.location = properties_.location};
  if (status)
    status = driver_.call<&Functions::cuMemSetAccess>(address_of(address), count_of(done), &access, std::size_t{1});
  if (status) return Done{};
  const Error error = failure(status.error(), done);
  if (done == Bytes(0)) return error;
  const Status unmapped = driver_.call<&Functions::cuMemUnmap>(address_of(address), count_of(done));
  if (unmapped) return error;
  return Error{ErrorCode::device,
               fmt::format("{}; undoing it failed too, so some memory stays mapped: {}", error.message,
                           unmapped.error().message),
               {}};
}

Error CudaVirtualMemory::failure(const Error& error, Bytes size) const {
  if (error.code == ErrorCode::out_of_memory) return out_of_memory(context_.name(), size, error.message);
  return error;
}

}  // namespace

Result<std::unique_ptr<VirtualMemory>> make_virtual_memory(const DeviceContext& context) {
  if (!context.info().virtual_memory) return std::unique_ptr<VirtualMemory>();
  AllocationProperties properties;
  properties.location.id = context.info().ordinal;
  std::size_t granularity = 0;
  STOWAGE_TRY(const Scope scope, context.enter());
  STOWAGE_TRY_STATUS(context.driver().call<&Functions::cuMemGetAllocationGranularity>(
      &granularity, static_cast<const AllocationProperties*>(&properties), GranularityKind::minimum));
  const Bytes page(static_cast<std::int64_t>(granularity));
  if (!is_power_of_two(page)) {
    return Error{ErrorCode::device,
                 fmt::format("{}: the driver has a granularity of {} bytes, which is not a power of two",
                             context.name(), granularity),
                 {}};
  }
  return std::unique_ptr<VirtualMemory>(std::make_unique<CudaVirtualMemory>(context, properties, page));
}

}  // namespace stowage::memory::cuda
