#pragma once

#include <string>

#include "stowage/report/scene.hpp"

/// A plan's timeline, for third-party viewers. A step is shown as a microsecond. Thread-safe.
namespace stowage {

/// Chrome trace events, which Perfetto also reads: one process per arena, with a slice per storage
/// and workspace from its first step to its last and a counter of live bytes; and one process for
/// the ops.
[[nodiscard]] STOWAGE_EXPORT std::string timeline_to_trace(const PlanScene& scene);

/// A PyTorch memory snapshot (pickle, protocol 4), which pytorch.org/memory_viz reads: memories are
/// devices, regions are segments, and storages and workspaces are blocks, allocated at their first
/// step and freed after their last.
[[nodiscard]] STOWAGE_EXPORT std::string timeline_to_snapshot(const PlanScene& scene);

}  // namespace stowage
