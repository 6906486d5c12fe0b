#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/findings.hpp"

namespace stowage::verification {

/// "step 7 of the program (wait for event 2 on stream 1)". Precondition: its number is right.
[[nodiscard]] std::string describe_program_step(const Graph& graph, const Program& program, std::size_t number);

/// Whether each step of the program, alone, can be right: what it names exists and is in its scope, its stream is that
/// of its op, and events are numbered in order of their records and waited for behind them, in the same scope.
bool check_program_steps(const Graph& graph, const Plan& plan, Findings& findings);

}  // namespace stowage::verification
