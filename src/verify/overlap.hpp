#pragma once

#include "verify/findings.hpp"
#include "verify/order.hpp"
#include "verify/rules.hpp"

namespace stowage::verification {

/// No two values share a byte unless one is over before the other begins, or takes over in place.
///
/// A race detector, not an intersection of boxes. Every root tensor and workspace claims its bytes when its value begins:
///   1. Sort the claims by the execution order of their beginnings.
///   2. Keep for every byte of every region the latest claim.
///   3. Each new claim must come after all those whose bytes it takes: on every stream, their last access happens before the new
///      value's first (vector clocks, see Order).
/// "Comes after" is transitive, so looking at the latest claim of each byte is enough: if that is over, so is whoever had the
/// byte before it. O(claims × (log claims + streams)), for each claim adds at most two ranges to the map.
///
/// In place: value R begins at the very op k that is the last access of Q. Op k lists a pair of an output that starts R and an
/// input in Q, both at one address, the output not larger; every input through which it reads Q has a pair, and none that begins
/// elsewhere shows bytes of the output; all other accesses of Q happen before k; all other accesses of R after it. R may then
/// take bytes of that input, and only those, as long as k writes no other member of Q or R there.
///
/// A conflict of two values is reported once, and the claim that is needed longer keeps the bytes.
void check_overlaps(const Case& input, const Order& order, Findings& findings);

}  // namespace stowage::verification
