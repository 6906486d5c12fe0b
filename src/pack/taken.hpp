#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pack/plain.hpp"

namespace stowage::pack {

/// The problem with the bytes that each item *takes* from those above it as its size: its size, rounded up to the
/// smallest alignment of the item itself and of the items that it meets. Whatever lies above it begins at a multiple of
/// that. Two items conflict at the same offsets as before, and totals and the bound are those of the bytes taken, which
/// lets solvers see early what does not fit. Only the peak differs: an item at the top ends where its own bytes do.
///
/// Nothing when the sizes stay as they are. O(alignments × sections + n log sections).
[[nodiscard]] std::optional<Plain> with_taken_sizes(const Plain& plain);

/// The alignments, ascending, with this property: some item of at least that alignment would take more if it met only
/// such items. Empty for most problems. Precondition: sizes are as taken. O(alignments × n).
[[nodiscard]] std::vector<std::int64_t> coarse_alignments(const Plain& plain);

}  // namespace stowage::pack
