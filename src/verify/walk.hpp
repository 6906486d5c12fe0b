#pragma once

#include "verify/conflicts.hpp"
#include "verify/links.hpp"

namespace stowage::verification {

/// Whether every value is there when it is needed: no two share a byte unless one is over before the other begins, or
/// takes over in place; what must be filled is; what copies read is intact.
///
/// A symbolic run. The program is walked in execution order, once for each batch (once if there are none), and for
/// every byte of every region it is kept who wrote it last (`State`); each access, clear and copy is an event that is
/// checked (`Ledger`). Streams: "over" means happens-before (`Order`), so that the walk's own order is only one of
/// those that are possible.
///   - Branch: each body is walked from the state at the entry; afterwards the ends are joined, and a byte may be
///   whichever's.
///   - Loop: what the head of an iteration may find is the entry's state joined with that at the end of an iteration; a
///   first walk
///     that says nothing finds the latter. Within a body a byte is either overwritten or passed on, so that one round
///     is enough. After any number of trips, none included, the state is that of the head.
/// O((accesses + claims) × (log + streams)); an op is walked once more for each loop that it is in.
void walk(const Facts& facts, const Links& links, std::size_t cells, Findings& findings);

}  // namespace stowage::verification
