#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/session/session_memory.hpp"
#include "stowage/base.hpp"

namespace stowage::runtime {

/// Room for blocks: part of an extent that nobody active has.
struct SessionGap {
  std::byte* base = nullptr;
  Bytes size;
};

/// The same bytes in as few parts as possible, in the order of addresses. Precondition: none overlap.
[[nodiscard]] std::vector<SessionGap> merged(std::vector<SessionGap> parts);

/// What is left of the extents without the busy parts, in the order of addresses within each. `busy` is in any order;
/// parts may overlap.
[[nodiscard]] std::vector<SessionGap> gaps_between(std::span<const SessionMemory::Extent> extents,
                                                   std::span<const SessionGap> busy);

/// Blocks in gaps: the largest first, each into the smallest gap that takes it, of equals the first.
struct SessionLayout {
  std::vector<std::byte*> addresses;  ///< By block; null where there was no gap, or the size is 0.
  std::vector<std::size_t> left;      ///< Blocks without a gap, the largest first.
  std::vector<SessionGap> gaps;       ///< What is left of them.
};
/// Sizes are rounded already. O(n log n) for n blocks and gaps.
[[nodiscard]] SessionLayout lay_out(std::span<const Bytes> sizes, std::vector<SessionGap> gaps);

}  // namespace stowage::runtime
