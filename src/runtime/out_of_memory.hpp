#pragma once

#include <optional>
#include <string>

#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

struct Shortage {
  Bytes requested;
  std::string why;  ///< What the device said.
  AllocatorStats stats;
  std::optional<Bytes> free;  ///< Of the device.
};

/// An error that includes the request, the allocator's statistics and the device's free memory.
[[nodiscard]] Error out_of_memory(const Shortage& shortage);

}  // namespace stowage::runtime
