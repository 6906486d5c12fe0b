#pragma once

#include <optional>
#include <string>

#include "stowage/graph.hpp"

namespace stowage::scheduling {

/// Why no scheduler can run the graph: its first constraint that addresses do not settle, in a sentence that names the
/// op, the tensor and the field. Nothing for a graph that needs addresses only.
///
/// A scheduler calls back once for all ops of a split and leaves their order to the caller. What a plan does between
/// two ops of a split (fills, copies, waits) would have no moment there, and neither has a body, a batch or a ring.
[[nodiscard]] std::optional<std::string> describe_unserved(const Graph& graph);

}  // namespace stowage::scheduling
