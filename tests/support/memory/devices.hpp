#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "memory/interface/sim_device.hpp"
#include "stowage/memory.hpp"
#include "stowage/memory/cuda.hpp"

/// What the conformance suites run over. Every device of the registry, and some of them with other options too.
///
/// STOWAGE_TEST_CUDA is the driver's library for CUDA's: the fake one's path, or empty for the real one.
/// STOWAGE_TEST_CUDA_ONLY leaves all others out.
namespace stowage::memory {

struct BufferKind {
  std::string name;
  std::shared_ptr<Device> device = {};  ///< Null where the type has no device of its own here.
  std::shared_ptr<BufferType> own_type = {};

  [[nodiscard]] BufferType& type() const { return own_type ? *own_type : device->buffer_type(); }
};

struct DeviceKind {
  std::string name;
  std::shared_ptr<Device> opened;

  [[nodiscard]] Device& device() const { return *opened; }
};

inline std::shared_ptr<BufferType> cpu_type(const CpuBufferOptions& options) {
  return make_cpu_buffer_type("cpu test", options).value();
}

inline constexpr Bytes kLargestBuffer{1 << 20};

#ifdef STOWAGE_TEST_CUDA
inline std::shared_ptr<CudaDevice> make_cuda(int ordinal = 0, std::optional<DeviceId> id = {}) {
  return CudaDevice::make({.ordinal = ordinal, .id = id, .driver = STOWAGE_TEST_CUDA}).value();
}

/// How many there are. Where there are none the suites are not run at all.
inline int cuda_count() {
  const Result<std::vector<CudaDeviceInfo>> devices = cuda_devices(STOWAGE_TEST_CUDA);
  return devices ? static_cast<int>(devices->size()) : 0;
}
#endif

/// Those of the registry except CUDA's, which is opened with the driver of the tests.
inline std::vector<std::string> registered_devices() {
  std::vector<std::string> names;
  for (const DeviceInfo& info : devices()) {
    if (info.name != "cuda") names.emplace_back(info.name);
  }
  return names;
}

inline BufferKind make_buffer_kind(const std::string& name) {
#ifdef STOWAGE_TEST_CUDA
  if (name == "cuda") return {name, make_cuda(), {}};
  if (name == "cuda_pinned") {
    const std::shared_ptr<CudaDevice> device = make_cuda();
    return {name, device, {device, &device->pinned_type()}};
  }
#endif
  if (name == "cpu_heap") return {name, {}, cpu_type({})};
  if (name == "cpu_mapped") return {name, {}, cpu_type({.map_pages = true})};
  if (name == "cpu_alignment_1") return {name, {}, cpu_type({.alignment = Bytes(1)})};
  if (name == "cpu_alignment_4096") return {name, {}, cpu_type({.alignment = Bytes(4096)})};
  if (name == "cpu_mapped_alignment_64KiB")
    return {name, {}, cpu_type({.alignment = Bytes(64 << 10), .map_pages = true})};
  if (name == "cpu_max_size") return {name, {}, cpu_type({.max_size = kLargestBuffer})};
  if (name == "sim_skewed") return {name, SimDevice::make({.skew = Bytes(40)}), {}};
  if (name == "sim_limited")
    return {name, SimDevice::make({.max_size = kLargestBuffer, .memory = Bytes(64 << 20)}), {}};
  return {name, open_device(name).value(), {}};
}

inline const std::vector<std::string>& buffer_kinds() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
#ifndef STOWAGE_TEST_CUDA_ONLY
    names = registered_devices();
    names.insert(names.end(), {"cpu_heap", "cpu_mapped", "cpu_alignment_1", "cpu_alignment_4096",
                               "cpu_mapped_alignment_64KiB", "cpu_max_size", "sim_skewed", "sim_limited"});
#endif
#ifdef STOWAGE_TEST_CUDA
    names.insert(names.end(), {"cuda", "cuda_pinned"});
#endif
    return names;
  }();
  return kNames;
}

inline DeviceKind make_device_kind(const std::string& name) {
#ifdef STOWAGE_TEST_CUDA
  if (name == "cuda") return {name, make_cuda()};
  if (name == "cuda_last") return {name, make_cuda(cuda_count() - 1, DeviceId(9))};
#endif
  if (name == "sim_small_pages") return {name, SimDevice::make({.id = DeviceId(7), .granularity = Bytes(4096)})};
  return {name, open_device(name).value()};
}

inline const std::vector<std::string>& device_kinds() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
#ifndef STOWAGE_TEST_CUDA_ONLY
    names = registered_devices();
    names.emplace_back("sim_small_pages");
#endif
#ifdef STOWAGE_TEST_CUDA
    names.insert(names.end(), {"cuda", "cuda_last"});
#endif
    return names;
  }();
  return kNames;
}

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * 7 + seed * 31) & 0xff);
  return bytes;
}

inline Bytes bytes_of(std::size_t count) { return Bytes(static_cast<std::int64_t>(count)); }

}  // namespace stowage::memory
