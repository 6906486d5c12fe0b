#include "memory/registry.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stowage {
namespace memory {

/// One line per device: the name of its folder.
#define STOWAGE_DEVICES(DEVICE) \
  DEVICE(cpu)                   \
  DEVICE(sim)                   \
  DEVICE(cuda)

#define STOWAGE_DECLARE(name) RegisteredDevice name##_entry();
STOWAGE_DEVICES(STOWAGE_DECLARE)
#undef STOWAGE_DECLARE

namespace {

std::span<const RegisteredDevice> registry() {
#define STOWAGE_ENTRY(name) name##_entry(),
  static const std::array kRegistry = {STOWAGE_DEVICES(STOWAGE_ENTRY)};
#undef STOWAGE_ENTRY
  return kRegistry;
}

std::string device_names() {
  std::string names;
  for (const DeviceInfo& info : devices()) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

}  // namespace

Status refuse_ordinal(std::string_view device, const DeviceOptions& options) {
  if (options.ordinal == 0) return Done{};
  return Error{ErrorCode::unsupported,
               fmt::format("{}: there is only one such device, but number {} was requested", device, options.ordinal),
               {}};
}

Status refuse_limit(std::string_view device, const DeviceOptions& options) {
  if (!options.memory) return Done{};
  return Error{ErrorCode::unsupported, fmt::format("{}: its memory cannot be limited", device), {}};
}

}  // namespace memory

std::span<const DeviceInfo> devices() {
  static const std::vector<DeviceInfo> kInfos = [] {
    std::vector<DeviceInfo> infos;
    for (const memory::RegisteredDevice& device : memory::registry()) infos.push_back(device.info);
    return infos;
  }();
  return kInfos;
}

Result<std::shared_ptr<Device>> open_device(std::string_view name, const DeviceOptions& options) {
  const auto all = memory::registry();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const memory::RegisteredDevice& device) { return device.info.name == name; });
  if (found != all.end()) return found->open(options);
  return Error{ErrorCode::unknown_name,
               fmt::format("there is no device '{}'; the devices are {}", name, memory::device_names()),
               {}};
}

}  // namespace stowage
