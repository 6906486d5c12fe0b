#pragma once

#include <vector>

#include "verify/claims.hpp"
#include "verify/clears.hpp"
#include "verify/findings.hpp"

namespace stowage::verification {

/// The rule `claim`: the lower bound of each arena is supported by the bytes that every plan needs at some step, or by
/// its proof. Reports the bounds that are not, and proofs that do not hold. Returns those that only rest on what cannot
/// be checked.
///
/// Arenas of one memory and kind share their values as a plan likes, so their bounds are checked together, by their
/// sum.
[[nodiscard]] std::vector<UncheckedClaim> check_bounds(const Case& input, const Claims& claims, const Clears& clears,
                                                       Findings& findings);

}  // namespace stowage::verification
