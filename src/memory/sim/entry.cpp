#include "memory/interface/sim_device.hpp"
#include "memory/registry.hpp"

namespace stowage::memory {
namespace {

Result<std::shared_ptr<Device>> open_sim(const DeviceOptions& options) {
  STOWAGE_TRY_STATUS(refuse_ordinal("sim", options));
  return std::shared_ptr<Device>(SimDevice::make({.memory = options.memory}));
}

}  // namespace

RegisteredDevice sim_entry() {
  return {{"sim", "simulated: counts memory instead of allocating it; unlimited unless a limit is given"}, &open_sim};
}

}  // namespace stowage::memory
