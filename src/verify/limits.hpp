#pragma once

#include "verify/links.hpp"
#include "verify/rules.hpp"

namespace stowage::verification {

/// No region is larger than its memory's largest buffer or the limit of the options, unless for something that is so
/// itself: a tensor, a workspace, or what must lie together with others. Pools and callers' buffers have their own
/// sizes.
void check_region_limits(const Case& input, const Links& links, const Copies& copies, Findings& findings);

}  // namespace stowage::verification
