#pragma once

#include <optional>

#include "memory/cuda/driver.hpp"
#include "stowage/memory/cuda.hpp"

namespace stowage::memory::cuda {

/// Makes a context current until the end of the scope; the one before is current again then.
class Scope {
 public:
  Scope() = default;
  explicit Scope(const Driver& driver) : driver_(&driver) {}
  Scope(Scope&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)) {}
  Scope& operator=(Scope&&) = delete;
  ~Scope();

 private:
  const Driver* driver_ = nullptr;  ///< Null: the right one was current already.
};

/// Lets this thread make and free memory while a stream is captured into a graph, which the driver forbids unless told
/// otherwise. Where it cannot be told so, the driver's answer to what is done inside says enough.
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

/// A device's primary context, retained while this lives, and what the parts of the device share. Thread-safe.
class DeviceContext {
 public:
  static Result<std::unique_ptr<DeviceContext>> make(const Driver& driver, CudaDeviceInfo info, DeviceId id);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  /// `STOWAGE_TRY(const Scope scope, context.enter());`
  [[nodiscard]] Result<Scope> enter() const;

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] const CudaDeviceInfo& info() const { return info_; }
  [[nodiscard]] DeviceId id() const { return id_; }
  /// "cuda:0".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Where ids of events and physical memory begin: other devices' are never taken for this one's.
  [[nodiscard]] std::uint64_t first_id() const { return static_cast<std::uint64_t>(id_.index()) << 40 | 1; }
  /// For what is done when a call returns: it waits for no stream of the user's.
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

/// Of one device. Fails with `invalid` where there is none of that number.
Result<CudaDeviceInfo> device_info(const Driver& driver, int ordinal);
Result<int> device_count(const Driver& driver);

std::unique_ptr<BufferType> make_device_type(const DeviceContext& context);
std::unique_ptr<BufferType> make_pinned_type(const DeviceContext& context);
/// Null where the device has none.
Result<std::unique_ptr<VirtualMemory>> make_virtual_memory(const DeviceContext& context);
Result<std::unique_ptr<CudaModule>> load_module(const DeviceContext& context, const std::string& ptx);

}  // namespace stowage::memory::cuda
