#pragma once

#include "io/onnx/draft.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Adds the constants and nodes of the draft's graph to it, in their order. Graph inputs must already be defined.
Status import_nodes(Draft& draft);

/// Whether a node runs bodies: If, Loop, Scan.
[[nodiscard]] bool is_control(const Node& node);
/// Adds such a node with its bodies.
Status import_control(const Node& node, Draft& draft);

}  // namespace stowage::io::onnx
