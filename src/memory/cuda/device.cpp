#include <algorithm>

#include <fmt/format.h>

#include "memory/cuda/events.hpp"
#include "memory/cuda/streams.hpp"

namespace stowage {
namespace memory::cuda {
namespace {

/// Members are destroyed in reverse order: first the streams finish, then memory is freed, then the context is
/// released.
class CudaDeviceImpl final : public CudaComputeDevice {
 public:
  explicit CudaDeviceImpl(std::unique_ptr<DeviceContext> context)
      : context_(std::move(context)),
        device_type_(make_device_type(*context_)),
        pinned_type_(make_pinned_type(*context_)) {}

  Status begin() {
    STOWAGE_TRY(virtual_memory_, make_virtual_memory(*context_));
    return Done{};
  }

  [[nodiscard]] DeviceId id() const override { return context_->id(); }
  [[nodiscard]] std::string_view name() const override { return context_->name(); }
  [[nodiscard]] const CudaDeviceInfo& info() const override { return context_->info(); }
  [[nodiscard]] BufferType& buffer_type() override { return *device_type_; }
  [[nodiscard]] BufferType& pinned_type() override { return *pinned_type_; }
  [[nodiscard]] VirtualMemory* virtual_memory() override { return virtual_memory_.get(); }

  [[nodiscard]] std::optional<Bytes> free_memory() const override {
    const Result<Scope> scope = context_->enter();
    std::size_t free = 0;
    std::size_t total = 0;
    if (!scope || driver().raw<&Functions::cuMemGetInfo>(&free, &total) != Code::success) return std::nullopt;
    return Bytes(static_cast<std::int64_t>(free));
  }

  Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) override {
    if (size == Bytes(0)) return Done{};
    if (size < Bytes(0) || to == nullptr || from == nullptr) {
      return invalid(fmt::format("cannot copy {} bytes from {} to {}", size.value(), fmt::ptr(from), fmt::ptr(to)));
    }
    STOWAGE_TRY(const Scope scope, context_->enter());
    STOWAGE_TRY(const Stream native, streams_.find(stream));
    return driver().call<&Functions::cuMemcpyAsync>(address_of(to), address_of(from), count_of(size), native);
  }

  Status fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) override {
    if (size == Bytes(0)) return Done{};
    if (size < Bytes(0) || to == nullptr) {
      return invalid(fmt::format("cannot fill {} bytes at {}", size.value(), fmt::ptr(to)));
    }
    STOWAGE_TRY(const Scope scope, context_->enter());
    STOWAGE_TRY(const Stream native, streams_.find(stream));
    return driver().call<&Functions::cuMemsetD8Async>(address_of(to), value, count_of(size), native);
  }

  Result<EventId> record(StreamId stream) override {
    STOWAGE_TRY(const Scope scope, context_->enter());
    STOWAGE_TRY(const Stream native, streams_.find(stream));
    return events_.record(native);
  }

  Status wait(StreamId stream, EventId event) override {
    STOWAGE_TRY(const Scope scope, context_->enter());
    STOWAGE_TRY(const Stream native, streams_.find(stream));
    return events_.wait(native, event);
  }

  [[nodiscard]] Result<bool> is_complete(EventId event) override {
    STOWAGE_TRY(const Scope scope, context_->enter());
    return events_.is_complete(event);
  }

  Status synchronize(StreamId stream) override {
    STOWAGE_TRY(const Scope scope, context_->enter());
    STOWAGE_TRY(const Stream native, streams_.find(stream));
    return driver().call<&Functions::cuStreamSynchronize>(native);
  }

  void forget(EventId event) override { events_.forget(event); }

  Result<StreamId> adopt(Stream stream) override {
    if (reinterpret_cast<std::uintptr_t>(stream) == kStreamPerThread) {
      return invalid("the per-thread default stream cannot be adopted: it is a different stream in each thread");
    }
    return streams_.adopt(stream);
  }

  [[nodiscard]] Result<Stream> native(StreamId stream) override {
    STOWAGE_TRY(const Scope scope, context_->enter());
    return streams_.find(stream);
  }

  [[nodiscard]] Result<bool> is_capturing(StreamId stream) override {
    STOWAGE_TRY(const Scope scope, context_->enter());
    STOWAGE_TRY(const Stream native, streams_.find(stream));
    CaptureStatus status = CaptureStatus::none;
    STOWAGE_TRY_STATUS(driver().call<&Functions::cuStreamIsCapturing>(native, &status));
    return status != CaptureStatus::none;
  }

  Result<std::unique_ptr<CudaModule>> load(const std::string& ptx) override { return load_module(*context_, ptx); }

  Status launch(StreamId stream, const CudaKernel& kernel, const CudaGrid& grid,
                std::span<void* const> arguments) override {
    STOWAGE_TRY_STATUS(check_launch(kernel, grid));
    STOWAGE_TRY(const Scope scope, context_->enter());
    STOWAGE_TRY(const Stream native, streams_.find(stream));
    const auto& [bx, by, bz] = grid.blocks;
    const auto& [tx, ty, tz] = grid.threads;
    return driver().call<&Functions::cuLaunchKernel>(static_cast<Function>(kernel.native()), bx, by, bz, tx, ty, tz,
                                                     grid.shared_bytes, native, const_cast<void**>(arguments.data()),
                                                     static_cast<void**>(nullptr));
  }

 private:
  [[nodiscard]] const Driver& driver() const { return context_->driver(); }
  [[nodiscard]] Error invalid(std::string_view what) const {
    return {ErrorCode::invalid, fmt::format("{}: {}", context_->name(), what), {}};
  }

  [[nodiscard]] Status check_launch(const CudaKernel& kernel, const CudaGrid& grid) const {
    if (kernel.module().device() != id()) {
      return invalid(fmt::format("the kernel belongs to device {}, not to device {}", kernel.module().device().index(),
                                 id().index()));
    }
    const auto is_zero = [](unsigned count) { return count == 0; };
    if (std::ranges::any_of(grid.blocks, is_zero) || std::ranges::any_of(grid.threads, is_zero)) {
      return invalid("a kernel launch without threads: a dimension of the grid is 0");
    }
    return Done{};
  }

  const std::unique_ptr<DeviceContext> context_;
  const std::unique_ptr<BufferType> device_type_;
  const std::unique_ptr<BufferType> pinned_type_;
  std::unique_ptr<VirtualMemory> virtual_memory_;
  EventTable events_{*context_};
  StreamTable streams_{*context_};
};

}  // namespace
}  // namespace memory::cuda

Result<std::vector<CudaDeviceInfo>> cuda_devices(std::string_view driver) {
  STOWAGE_TRY(const memory::cuda::Driver* const loaded, memory::cuda::Driver::load(driver));
  STOWAGE_TRY(const int count, memory::cuda::device_count(*loaded));
  std::vector<CudaDeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    STOWAGE_TRY(CudaDeviceInfo info, memory::cuda::device_info(*loaded, ordinal));
    devices.push_back(std::move(info));
  }
  return devices;
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::make(const CudaOptions& options) {
  using namespace memory::cuda;
  if (options.id && options.id->index() == 0) {
    return Error{ErrorCode::invalid, "cuda: device id 0 is reserved for the CPU", {}};
  }
  STOWAGE_TRY(const Driver* const driver, Driver::load(options.driver));
  STOWAGE_TRY(CudaDeviceInfo info, device_info(*driver, options.ordinal));
  const DeviceId id = options.id.value_or(DeviceId(static_cast<std::size_t>(options.ordinal) + 1));
  STOWAGE_TRY(std::unique_ptr<DeviceContext> context, DeviceContext::make(*driver, std::move(info), id));
  auto device = std::make_unique<CudaDeviceImpl>(std::move(context));
  STOWAGE_TRY_STATUS(device->begin());
  return std::unique_ptr<CudaDevice>(std::move(device));
}

}  // namespace stowage
