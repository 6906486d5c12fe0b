#pragma once

#include <string>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::cli {

/// What a plan requires of the runtime, as text: copies, clears, bindings, edges, and notes. One line per kind with the
/// first few entries, no line for an empty list.
[[nodiscard]] std::string plan_text(const Graph& graph, const Plan& plan);

}  // namespace stowage::cli
