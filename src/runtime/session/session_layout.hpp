#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/session/session_memory.hpp"
#include "stowage/base.hpp"

namespace stowage::runtime {

/// A part of an extent that no active model uses.
struct SessionGap {
  std::byte* base = nullptr;
  Bytes size;
};

/// Merges adjacent parts; the result is in address order. Precondition: no parts overlap.
[[nodiscard]] std::vector<SessionGap> merged(std::vector<SessionGap> parts);

/// The parts of the extents that are not busy, in address order within each extent. `busy` may be in any order, and its
/// parts may overlap.
[[nodiscard]] std::vector<SessionGap> gaps_between(std::span<const SessionMemory::Extent> extents,
                                                   std::span<const SessionGap> busy);

/// Blocks placed in gaps by best fit, the largest block first; of equal gaps, the first.
struct SessionLayout {
  std::vector<std::byte*> addresses;  ///< Per block; null if no gap fits, or if the size is 0.
  std::vector<std::size_t> left;      ///< Blocks that fit no gap, the largest first.
  std::vector<SessionGap> gaps;       ///< What remains of the gaps.
};
/// Precondition: sizes are rounded. O(n log n) for n blocks and gaps.
[[nodiscard]] SessionLayout lay_out(std::span<const Bytes> sizes, std::vector<SessionGap> gaps);

}  // namespace stowage::runtime
