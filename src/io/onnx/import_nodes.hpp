#pragma once

#include "io/onnx/draft.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Adds the constants and nodes of the draft's graph to it, in their order. What the caller provides is defined
/// already.
Status import_nodes(Draft& draft);

/// Whether a node runs bodies: If, Loop, Scan.
[[nodiscard]] bool is_control(const Node& node);
/// Adds such a node, bodies and all.
Status import_control(const Node& node, Draft& draft);

}  // namespace stowage::io::onnx
