#pragma once

#include <span>
#include <string>

#include "stowage/runtime/allocator.hpp"

/// The state of dynamic allocators, for third-party viewers. Thread-safe.
namespace stowage {

/// A PyTorch memory snapshot (pickle, protocol 4), which pytorch.org/memory_viz and
/// torch.cuda._memory_viz read. `device_traces` has, for each device up to the last one named, a
/// sequence of events that leads to this state: every segment is allocated, then every block that
/// is not idle; pending blocks are freed but not completed.
///
/// A segment is `small` if its size is at most 2 MiB, as in PyTorch, and `is_expandable` if it is
/// stitched. Memory of a stitched segment also appears in the segment that it came from, so the sum
/// of all segments can exceed the footprint.
[[nodiscard]] STOWAGE_EXPORT std::string snapshot_to_pickle(
    std::span<const MemorySnapshot> snapshots);
[[nodiscard]] STOWAGE_EXPORT std::string snapshot_to_pickle(const MemorySnapshot& snapshot);

}  // namespace stowage
