#include "memory/registry.hpp"
#include "stowage/memory/cuda.hpp"

namespace stowage::memory {
namespace {

Result<std::shared_ptr<Device>> open_cuda(const DeviceOptions& options) {
  STOWAGE_TRY_STATUS(refuse_limit("cuda", options));
  STOWAGE_TRY(std::shared_ptr<Device> device, CudaDevice::make({.ordinal = options.ordinal}));
  return device;
}

}  // namespace

RegisteredDevice cuda_entry() { return {{"cuda", "an NVIDIA GPU, through its driver"}, &open_cuda}; }

}  // namespace stowage::memory
