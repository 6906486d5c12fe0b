#include "stowage/runtime/allocator.hpp"

namespace stowage {

double AllocatorStats::waste() const {
  if (reserved_peak == Bytes(0)) return 0;
  return 1.0 - static_cast<double>(requested_peak.value()) / static_cast<double>(reserved_peak.value());
}

}  // namespace stowage
