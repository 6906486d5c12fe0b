#include "memory/registry.hpp"

namespace stowage::memory {
namespace {

Result<std::shared_ptr<Device>> open_cpu(const DeviceOptions& options) {
  STOWAGE_TRY_STATUS(refuse_ordinal("cpu", options));
  STOWAGE_TRY_STATUS(refuse_limit("cpu", options));
  return std::shared_ptr<Device>(std::shared_ptr<Device>(), &cpu_device());  // not owned
}

}  // namespace

RegisteredDevice cpu_entry() { return {{"cpu", "the host's memory"}, &open_cpu}; }

}  // namespace stowage::memory
