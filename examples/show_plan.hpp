#pragma once

#include <string>
#include <vector>

#include "stowage/stowage.hpp"

namespace examples {

/// Plans a graph and prints the outcome: the peak, the op at which it occurs, and some placements. Also writes the
/// graph to `file`, unless that is empty. Returns the exit code.
int show_plan(const stowage::Result<stowage::Graph>& graph, const std::vector<std::string>& names,
              const std::string& file);

}  // namespace examples
