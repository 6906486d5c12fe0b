#pragma once

#include <CLI/CLI.hpp>

#include "stowage/planner.hpp"

namespace stowage::cli {

/// --sort, --release, --size-classes, --memory-priority: the knobs known from GE. Each of the first three adds a plan
/// with these knobs to the ordinary one.
void add_reuse_options(CLI::App& command, PlanOptions& options);

}  // namespace stowage::cli
