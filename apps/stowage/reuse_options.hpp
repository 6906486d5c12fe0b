#pragma once

#include <CLI/CLI.hpp>

#include "stowage/planner.hpp"

namespace stowage::cli {

/// --sort, --release, --size-classes, --memory-priority: the knobs that users of GE know. Each of the first three asks
/// for a plan with these knobs beside the ordinary one.
void add_reuse_options(CLI::App& command, PlanOptions& options);

}  // namespace stowage::cli
