#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// Starts from the best answer so far, or from one that it finds itself, and searches until an answer is proven
/// optimal.
void solve_exact(Bench& bench);

/// The same for problems that are not plain, in one piece, whatever answer there is. The only search that knows joins.
void search_general(Bench& bench);

}  // namespace stowage::pack
