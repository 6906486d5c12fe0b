#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// Packs the fullest sections first, by themselves, and everything else around them.
///
/// In a large problem whose sections differ, only few are nearly as full as the fullest. The items in these, the
/// *core*, are a problem of their own, usually of many small components, which the exact search solves at the target.
/// With the core fixed, everything else is repaired (`EjectionSearch`) until nothing ends above the target: it lies in
/// sections that are less full, and so has room. A core that is too small makes the repair fail, one that is too large
/// makes the exact search fail: several are tried, each of all items in sections fuller than a fraction of the bound.
///
/// The target is the bound, or the capacity if that is higher. Offers an answer if it finds one. Spends about `nodes`
/// nodes. Returns whether it found one. Precondition: the problem is plain, and there is an answer.
bool pack_core_first(Bench& bench, std::uint64_t nodes);

}  // namespace stowage::pack
