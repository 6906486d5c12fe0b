#include "runtime/out_of_memory.hpp"

#include <fmt/format.h>

namespace stowage::runtime {

Error out_of_memory(const Shortage& shortage) {
  const AllocatorStats& stats = shortage.stats;
  const std::string free = shortage.free ? fmt::format("{}", shortage.free->value()) : "an unknown number of";
  return {ErrorCode::out_of_memory,
          fmt::format("{} bytes requested; {} live, {} reserved, {} idle; the largest request that idle memory can "
                      "serve is {} bytes; the device has {} bytes free ({})",
                      shortage.requested.value(), stats.rounded.value(), stats.reserved.value(),
                      (stats.reserved - stats.rounded).value(), stats.largest_idle.value(), free, shortage.why),
          {}};
}

}  // namespace stowage::runtime
