#include "memory/cuda/context.hpp"

#include <array>

#include <fmt/format.h>

namespace stowage::memory::cuda {

Scope::~Scope() {
  Context popped = nullptr;
  if (driver_ != nullptr) driver_->try_call<&Functions::cuCtxPopCurrent>(&popped);
}

void RelaxedCapture::exchange() {
  exchanged_ = driver_.raw<&Functions::cuThreadExchangeStreamCaptureMode>(&other_) == Code::success;
}

DeviceContext::DeviceContext(const Driver& driver, CudaDeviceInfo info, DeviceId id)
    : driver_(driver), info_(std::move(info)), id_(id), name_(fmt::format("cuda:{}", info_.ordinal)) {}

Result<std::unique_ptr<DeviceContext>> DeviceContext::make(const Driver& driver, CudaDeviceInfo info, DeviceId id) {
  std::unique_ptr<DeviceContext> made(new DeviceContext(driver, std::move(info), id));
  STOWAGE_TRY_STATUS(driver.call<&Functions::cuDevicePrimaryCtxRetain>(&made->context_, made->info_.ordinal));
  STOWAGE_TRY(const Scope scope, made->enter());
  STOWAGE_TRY_STATUS(driver.call<&Functions::cuStreamCreate>(&made->transfers_, kStreamNonBlocking));
  return made;
}

DeviceContext::~DeviceContext() {
  if (context_ == nullptr) return;
  if (transfers_ != nullptr) {
    if (const Result<Scope> scope = enter(); scope) driver_.try_call<&Functions::cuStreamDestroy>(transfers_);
  }
  driver_.try_call<&Functions::cuDevicePrimaryCtxRelease>(info_.ordinal);
}

Result<Scope> DeviceContext::enter() const {
  Context current = nullptr;
  STOWAGE_TRY_STATUS(driver_.call<&Functions::cuCtxGetCurrent>(&current));
  if (current == context_) return Scope();
  STOWAGE_TRY_STATUS(driver_.call<&Functions::cuCtxPushCurrent>(context_));
  return Scope(driver_);
}

std::optional<MemoryType> DeviceContext::memory_type(const std::byte* address) const {
  const Result<Scope> scope = enter();
  if (!scope) return std::nullopt;
  MemoryType type = MemoryType::none;
  const Code code = driver_.raw<&Functions::cuPointerGetAttribute>(static_cast<void*>(&type),
                                                                   PointerAttribute::memory_type, address_of(address));
  if (code == Code::invalid_value) return MemoryType::none;  // it knows no such memory
  return code == Code::success ? std::optional(type) : std::nullopt;
}

std::optional<bool> DeviceContext::owns(const std::byte* address) const {
  const std::optional<MemoryType> type = memory_type(address);
  if (!type || *type != MemoryType::device) return type ? std::optional(false) : std::nullopt;
  const Result<Scope> scope = enter();
  if (!scope) return std::nullopt;
  int ordinal = -1;
  const Code code = driver_.raw<&Functions::cuPointerGetAttribute>(
      static_cast<void*>(&ordinal), PointerAttribute::device_ordinal, address_of(address));
  return code == Code::success ? std::optional(ordinal == info_.ordinal) : std::nullopt;
}

Status DeviceContext::check_stream(Stream stream) const {
  if (stream == nullptr || reinterpret_cast<std::uintptr_t>(stream) == kLegacyStream) return Done{};
  Context theirs = nullptr;
  STOWAGE_TRY_STATUS(driver_.call<&Functions::cuStreamGetCtx>(stream, &theirs));
  if (theirs == context_) return Done{};
  Ordinal device = 0;
  {
    STOWAGE_TRY_STATUS(driver_.call<&Functions::cuCtxPushCurrent>(theirs));
    const Scope scope(driver_);
    STOWAGE_TRY_STATUS(driver_.call<&Functions::cuCtxGetDevice>(&device));
  }
  if (device == info_.ordinal) return Done{};
  return Error{ErrorCode::invalid, fmt::format("{}: the stream belongs to GPU {}", name_, device), {}};
}

Result<int> device_count(const Driver& driver) {
  int count = 0;
  STOWAGE_TRY_STATUS(driver.call<&Functions::cuDeviceGetCount>(&count));
  return count;
}

Result<CudaDeviceInfo> device_info(const Driver& driver, int ordinal) {
  STOWAGE_TRY(const int count, device_count(driver));
  if (ordinal < 0 || ordinal >= count) {
    return Error{ErrorCode::invalid, fmt::format("cuda: there is no device {}; there are {}", ordinal, count), {}};
  }
  Ordinal device = 0;
  std::array<char, 256> name = {};
  std::size_t memory = 0;
  int virtual_memory = 0;
  CudaDeviceInfo info;
  info.ordinal = ordinal;
  STOWAGE_TRY_STATUS(driver.call<&Functions::cuDeviceGet>(&device, ordinal));
  STOWAGE_TRY_STATUS(driver.call<&Functions::cuDeviceGetName>(name.data(), static_cast<int>(name.size()) - 1, device));
  STOWAGE_TRY_STATUS(driver.call<&Functions::cuDeviceTotalMem>(&memory, device));
  STOWAGE_TRY_STATUS(
      driver.call<&Functions::cuDeviceGetAttribute>(&info.compute_major, Attribute::compute_major, device));
  STOWAGE_TRY_STATUS(
      driver.call<&Functions::cuDeviceGetAttribute>(&info.compute_minor, Attribute::compute_minor, device));
  STOWAGE_TRY_STATUS(driver.call<&Functions::cuDeviceGetAttribute>(&virtual_memory, Attribute::virtual_memory, device));
  info.name = name.data();
  info.memory = Bytes(static_cast<std::int64_t>(memory));
  info.virtual_memory = virtual_memory != 0;
  return info;
}

}  // namespace stowage::memory::cuda
