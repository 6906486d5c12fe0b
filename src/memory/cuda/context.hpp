#pragma once

#include <optional>

#include "memory/cuda/driver.hpp"
#include "memory/interface/cuda_compute.hpp"

namespace stowage::memory::cuda {

/// Makes a context current until the end of the scope, then restores the previous one.
class Scope {
 public:
  Scope() = default;
  explicit Scope(const Driver& driver) : driver_(&driver) {}
  Scope(Scope&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)) {}
  Scope& operator=(Scope&&) = delete;
  ~Scope();

 private:
  const Driver* driver_ = nullptr;  ///< Null: the context was already current.
};

/// Lets this thread allocate and free memory while a stream is captured into a graph, which the driver forbids by
/// default. When the mode cannot be changed, nothing is reported here: the calls inside the scope fail with the
/// driver's error.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() {
    if (exchanged_) exchange();
  }

 private:
  void exchange();

  const Driver& driver_;
  CaptureMode other_ = CaptureMode::relaxed;
  bool exchanged_ = false;
};

/// Keeps a device's primary context retained, and holds what the parts of the device share. Thread-safe.
class DeviceContext {
 public:
  static Result<std::unique_ptr<DeviceContext>> make(const Driver& driver, CudaDeviceInfo info, DeviceId id);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  /// `STOWAGE_TRY(const Scope scope, context.enter());`
  [[nodiscard]] Result<Scope> enter() const;

  /// Fails with `invalid` for a stream that was made on another GPU. The default stream is that of the context that is
  /// current, so it is this device's.
  [[nodiscard]] Status check_stream(Stream stream) const;

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] const CudaDeviceInfo& info() const { return info_; }
  [[nodiscard]] DeviceId id() const { return id_; }
  /// "cuda:0".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Where ids of events and physical memory begin. The ranges of different devices do not overlap.
  [[nodiscard]] std::uint64_t first_id() const { return static_cast<std::uint64_t>(id_.index()) << 40 | 1; }
  /// What kind of memory lies at the address, if it is pinned or of a GPU. Nothing if the driver cannot tell.
  [[nodiscard]] std::optional<MemoryType> memory_type(const std::byte* address) const;
  /// Whether it is memory of this GPU; not pinned memory of the host.
  [[nodiscard]] std::optional<bool> owns(const std::byte* address) const;

  /// The stream for work that is complete when the call returns. It waits for none of the user's streams.
  [[nodiscard]] Stream transfers() const { return transfers_; }

 private:
  DeviceContext(const Driver& driver, CudaDeviceInfo info, DeviceId id);

  const Driver& driver_;
  const CudaDeviceInfo info_;
  const DeviceId id_;
  const std::string name_;
  Context context_ = nullptr;
  Stream transfers_ = nullptr;
};

/// Fails with `invalid` when there is no device of that number.
Result<CudaDeviceInfo> device_info(const Driver& driver, int ordinal);
Result<int> device_count(const Driver& driver);

std::unique_ptr<BufferType> make_device_type(const DeviceContext& context);
std::unique_ptr<BufferType> make_pinned_type(const DeviceContext& context);
/// Null when the device has no virtual memory.
Result<std::unique_ptr<VirtualMemory>> make_virtual_memory(const DeviceContext& context);
Result<std::unique_ptr<CudaModule>> load_module(const DeviceContext& context, const std::string& ptx);

}  // namespace stowage::memory::cuda
