#pragma once

#include <string>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::cli {

/// What a plan demands of whoever runs it, for people: copies, clears, bindings, edges, and what was not granted. One
/// line each with the first few of them, none for what there is none of.
[[nodiscard]] std::string plan_text(const Graph& graph, const Plan& plan);

}  // namespace stowage::cli
