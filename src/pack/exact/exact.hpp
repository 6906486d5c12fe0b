#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// From the best answer so far, or one that it makes itself, to one that is proven optimal.
void solve_exact(Bench& bench);

}  // namespace stowage::pack
