#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// The skyline greedy with the best of seven priorities. Precondition: the problem is plain.
void solve_skyline(Bench& bench);

/// The same; but in a huge problem, the fullest sections first (`pack_core_first`) after one priority, since a run
/// takes seconds. Not in the registry: a part of `auto`. Precondition: the problem is plain.
void solve_skyline_and_core(Bench& bench);

/// Finds some answer if there is none yet: by the skyline for a plain problem, by first_fit_by_size for any other.
void solve_at_first(Bench& bench);

}  // namespace stowage::pack
