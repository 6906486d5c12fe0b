#pragma once

#include "verify/links.hpp"
#include "verify/rules.hpp"

namespace stowage::verification {

/// No region is larger than the largest buffer of its memory or the limit of the options, except where something in it
/// is itself larger: a tensor, a workspace, or tensors that must lie together. Then the region is no larger than that;
/// whatever fits may lie in it too. Rings and callers' buffers have given sizes and are not checked.
void check_region_limits(const Case& input, const Links& links, const Copies& copies, Findings& findings);

}  // namespace stowage::verification
