#pragma once

#include <string>

#include "stowage/report/scene.hpp"

/// A plan's timeline for viewers that others wrote. A step is a microsecond. Thread-safe.
namespace stowage {

/// Chrome trace events, which Perfetto opens too: a process for each arena with a slice for each
/// storage and workspace, from its first step to its last, and a counter of live bytes; the ops in
/// a process of their own.
[[nodiscard]] STOWAGE_EXPORT std::string timeline_to_trace(const PlanScene& scene);

/// A PyTorch memory snapshot (pickle, protocol 4), which pytorch.org/memory_viz reads: memories are
/// devices, regions of arenas are segments, whatever holds bytes is a block that is allocated at
/// its first step and freed after its last.
[[nodiscard]] STOWAGE_EXPORT std::string timeline_to_snapshot(const PlanScene& scene);

}  // namespace stowage
