#pragma once

#include <vector>

#include "verify/conflicts.hpp"
#include "verify/links.hpp"

namespace stowage::verification {

/// Checks that every value is intact when it is needed: no two values share a byte unless one is over before the other
/// begins, or takes over in place; memory that must be filled is filled; what copies read is intact.
///
/// This is a symbolic run. The graph is walked in execution order, once per batch (once if there are none). For every
/// byte of every region, the last writer is kept (`State`). Each access, clear and copy is an event that is checked
/// (`Ledger`). With several streams, "over" means happens-before (`Order`), so the order of the walk is only one of the
/// possible ones.
///
/// - Branch: each body is walked from the state at the entry. Afterwards the states at their ends are joined: a byte
///   may have been written by any of them.
/// - Loop: the state at the start of an iteration is that at the entry joined with that at the end of an iteration. A
///   first walk, without reports, finds the latter. In a body, a byte is either overwritten or left unchanged, so one
///   round is enough. After any number of iterations, including zero, the state is that at the start of an iteration.
///
/// O((accesses + claims) × (log + streams)); an op is walked once more for each loop around it.
///
/// Returns, by batch (one if there are none) and clear, whether an op that needs filled memory found some of it as the
/// clear left it. Incomplete if the findings are full.
std::vector<std::vector<bool>> walk(const Facts& facts, const Links& links, std::size_t cells, Findings& findings);

}  // namespace stowage::verification
