#pragma once

#include <memory>

#include "stowage/memory.hpp"

/// To add a device: a folder that defines `RegisteredDevice <name>_entry()`, and a line in registry.cpp.
namespace stowage::memory {

struct RegisteredDevice {
  DeviceInfo info;
  Result<std::shared_ptr<Device>> (*open)(const DeviceOptions& options);
};

/// `unsupported` if the options select one of several devices (`refuse_ordinal`) or set a memory limit
/// (`refuse_limit`).
[[nodiscard]] Status refuse_ordinal(std::string_view device, const DeviceOptions& options);
[[nodiscard]] Status refuse_limit(std::string_view device, const DeviceOptions& options);

}  // namespace stowage::memory
