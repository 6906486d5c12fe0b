#pragma once

#include "pack/registry.hpp"

namespace stowage::pack {

/// Whether the pins are consistent with each other and with the limits of their regions. If not, there is nothing to
/// search.
[[nodiscard]] bool pins_hold(const Problem& problem);

/// Solves a problem with joins.
///
/// 1. Contracts it (contraction.hpp) and runs the solver on what is left, without joins: usually that reaches the bound
///    over all choices of joins, and then it is over.
/// 2. If not, and the solver searches: the exact search over positions and joins together, which can also prove.
/// 3. If that refuses a problem of this size, goes on with the contracted one.
void solve_joined(const RegisteredSolver& solver, Bench& bench);

}  // namespace stowage::pack
