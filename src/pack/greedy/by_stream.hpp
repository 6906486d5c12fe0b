#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// Packs each stream's items by themselves and stacks the results. Does nothing unless there is a stream order, one
/// region without a limit, and no pin. Not in the registry: a part of `auto`.
void solve_by_stream(Bench& bench);

}  // namespace stowage::pack
