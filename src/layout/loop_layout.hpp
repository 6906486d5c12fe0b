#pragma once

#include <vector>

#include "layout/assembly.hpp"
#include "layout/stages.hpp"

namespace stowage::layout {

/// Puts each value that a loop carries in one place, and returns the copies for those for which that is impossible.
///
/// A carried value has one place, which is also the place of the loop's result. The value from outside may already be
/// there if nobody needs it afterwards. The outgoing value may be written there if the incoming one is dead by then.
[[nodiscard]] std::vector<PlannedCopy> lay_out_loops(const StorageInput& input, const ByClass<Residence>& residences,
                                                     Assembly& assembly);

}  // namespace stowage::layout
