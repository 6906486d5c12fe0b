#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::testing {

/// A judge of programs that shares nothing with `make_program` and `verify` but the definitions. It performs the
/// program as a host does (`Host`), for every batch and several choices of bodies, and asks of every pair of what was
/// submitted whether streams and events alone order it (sets of predecessors, closed transitively). What must be
/// ordered is taken from `predecessors` (the judge of shadow runs), from the bodies, and from the bytes that fills
/// write.
///
/// Says what is wrong: something is missing, twice, out of turn, or not ordered. Steps that are there for nothing are
/// not looked for, and everything that the streams order counts, even if it is one inside a body and one outside; so
/// `verify` may refuse what this accepts, but not the other way round.
[[nodiscard]] std::optional<std::string> fault_of_program(const Graph& graph, const Plan& plan, std::uint64_t seed);

}  // namespace stowage::testing
