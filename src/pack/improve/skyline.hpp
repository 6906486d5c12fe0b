#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// The best of seven priorities. Precondition: the problem is plain.
void solve_skyline(Bench& bench);

/// Some answer where there is none yet: the skyline's for a plain problem, first fit by size for any other.
void solve_at_first(Bench& bench);

}  // namespace stowage::pack
