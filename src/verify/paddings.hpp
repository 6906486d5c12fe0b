#pragma once

#include "verify/claims.hpp"
#include "verify/links.hpp"

/// The rule of padding: the bytes from the end of a tensor or workspace up to the next multiple of its alignment belong
/// to it, as those of its content do.
namespace stowage::verification {

/// Adds the padding of all values to their claims. Members of a ring, tensors in callers' buffers and parts of packed
/// wholes have none; what groups and bodies tie together has padding only up to where the next of these begins.
void add_paddings(const Case& input, const Links& links, Claims& claims);

/// Padding lies inside the region of its tensor.
void check_paddings(const Case& input, const Claims& claims, const Cells& cells, Findings& findings);

}  // namespace stowage::verification
