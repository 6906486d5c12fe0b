#pragma once

#include "liveness/assembly.hpp"

namespace stowage::liveness {

/// Lets what loops carry lie in one place, or notes the copies that it takes.
///
/// A carried value has a place, where the loop's result is too. The value that comes in may be there already, when nobody needs
/// it afterwards; the value that goes out may be written there, when the one that came in is dead by then.
void lay_out_loops(const Graph& graph, const LivenessOptions& options, Liveness& result, Assembly& assembly);

}  // namespace stowage::liveness
