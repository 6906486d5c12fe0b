#pragma once

#include "verify/claims.hpp"

namespace stowage::verification {

/// Tensors that the graph keeps apart share no byte, whatever their lives are; a caller's buffer counts where it hosts
/// others. Copies of the plan do not count. The padding behind a tensor belongs to it, as far as `claims` has any.
void check_apart(const Case& input, const Claims& claims, const Cells& cells, Findings& findings);

}  // namespace stowage::verification
