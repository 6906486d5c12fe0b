#pragma once

#include <vector>

#include "verify/conflicts.hpp"

namespace stowage::verification {

/// Judges the program of the plan, if it has one (`Rule::program`, `Rule::wait`).
///
/// Its steps name what exists, on the right streams and in the right bodies. In the runs of each batch, every op, fill,
/// copy and binding that is needed is there once and nothing else is; each op comes right after the fills and copies
/// before it; and the streams and events alone order what the graph, the edges, and fills at the start order (`Sync`).
/// What must be ordered is said scope by scope, as everywhere; what streams have waited for counts across scopes.
///
/// Precondition: without its program, the plan has no findings. `met_clears` is what `walk` returned.
void check_program(const Facts& facts, const std::vector<std::vector<bool>>& met_clears, Findings& findings);

}  // namespace stowage::verification
