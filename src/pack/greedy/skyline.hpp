#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// The skyline greedy with the best of seven priorities. Precondition: the problem is plain.
void solve_skyline(Bench& bench);

/// Finds some answer if there is none yet: by the skyline for a plain problem, by first_fit_by_size for any other.
void solve_at_first(Bench& bench);

}  // namespace stowage::pack
