#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stowage/replay.hpp"

namespace stowage::replaying {

/// A granted allocation, as the replay saw it.
struct Grant {
  std::uint64_t first = 0;     ///< The event that allocated it.
  std::uint64_t end = 0;       ///< The event that freed it; one past the last event if none did.
  std::uintptr_t address = 0;  ///< 0: refused, or of 0 bytes.
  Bytes size;
  StreamId stream;
};

/// The blocks of the grants of positive size, with addresses as `ReplayBlocks` describes. At most `limit`: the largest
/// in bytes × events, among equals the first. O(n log n).
[[nodiscard]] ReplayBlocks blocks_of(std::span<const Grant> grants, std::size_t limit);

}  // namespace stowage::replaying
