#pragma once

#include "verify/rules.hpp"

namespace stowage::verification {

/// Tensors that the graph keeps apart share no byte, whatever their lives are; a caller's buffer counts where it hosts
/// others. Copies of the plan do not count.
void check_apart(const Case& input, const Cells& cells, Findings& findings);

}  // namespace stowage::verification
