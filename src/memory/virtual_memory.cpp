#include <fmt/format.h>

#include "stowage/memory.hpp"

namespace stowage {

Status VirtualMemory::map_all(std::byte* address, std::span<const PhysicalRange> ranges) {
  Bytes done;
  for (const PhysicalRange& range : ranges) {
    const Status mapped = map(address + done.value(), range.physical, range.offset, range.size);
    if (!mapped) {
      if (done == Bytes(0)) return mapped;
      const Status unmapped = unmap(address, done);
      if (unmapped) return mapped;
      return Error{ErrorCode::device,
                   fmt::format("{} bytes stay mapped at {}: mapping failed ({}), and so did undoing it: {}",
                               done.value(), fmt::ptr(address), mapped.error().message, unmapped.error().message),
                   {}};
    }
    done += range.size;
  }
  return Done{};
}

}  // namespace stowage
