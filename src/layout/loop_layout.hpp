#pragma once

#include <vector>

#include "layout/assembly.hpp"
#include "layout/stages.hpp"

namespace stowage::layout {

/// Lets what loops carry lie in one place, or returns the copies that it takes.
///
/// A carried value has a place, where the loop's result is too. The value that comes in may be there already, when
/// nobody needs it afterwards; the value that goes out may be written there, when the one that came in is dead by then.
[[nodiscard]] std::vector<PlannedCopy> lay_out_loops(const StorageInput& input, const ByClass<Residence>& residences,
                                                     Assembly& assembly);

}  // namespace stowage::layout
