#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// Starts from the best answer so far, or from one that it finds itself, and searches until an answer is proven
/// optimal.
void solve_exact(Bench& bench);

}  // namespace stowage::pack
