#pragma once

#include <span>
#include <string>

#include "stowage/runtime/allocator.hpp"

/// What dynamic allocators hold, for viewers that others wrote. Thread-safe.
namespace stowage {

/// A PyTorch memory snapshot (pickle, protocol 4), which pytorch.org/memory_viz and
/// torch.cuda._memory_viz read. Segments and blocks are as they are; `device_traces` has, for each
/// device up to the last one named, events that lead from nothing to them: every segment comes,
/// then every block that is not idle, and what is pending is freed but not complete.
///
/// A segment is `small` where its size is at most 2 MiB, as in PyTorch, and `is_expandable` where
/// it is stitched. The memory behind a stitched one appears where it came from too, so that the sum
/// of all segments may be above the footprint.
[[nodiscard]] STOWAGE_EXPORT std::string snapshot_to_pickle(
    std::span<const MemorySnapshot> snapshots);
[[nodiscard]] STOWAGE_EXPORT std::string snapshot_to_pickle(const MemorySnapshot& snapshot);

}  // namespace stowage
