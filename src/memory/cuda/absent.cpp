/// Stands in for the CUDA module in a build without it: every call returns an error.
#include "memory/registry.hpp"
#include "stowage/memory/cuda.hpp"

namespace stowage {
namespace {

Error unavailable() {
  return {ErrorCode::device, "cuda is not available: this library was built with STOWAGE_CUDA=OFF", {}};
}

}  // namespace

Result<std::vector<CudaDeviceInfo>> cuda_devices(std::string_view) { return unavailable(); }

Result<std::unique_ptr<CudaDevice>> CudaDevice::make(const CudaOptions&) { return unavailable(); }

namespace memory {

RegisteredDevice cuda_entry() {
  return {{"cuda", "an NVIDIA GPU; not in this build (STOWAGE_CUDA=OFF)", false},
          [](const DeviceOptions&) -> Result<std::shared_ptr<Device>> { return unavailable(); }};
}

}  // namespace memory

}  // namespace stowage
