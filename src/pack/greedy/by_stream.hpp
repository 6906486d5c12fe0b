#pragma once

#include "pack/bench.hpp"

namespace stowage::pack {

/// Streams end to end, where there is a stream order, one endless region and no pin. Not in the registry: a part of
/// `auto`.
void solve_by_stream(Bench& bench);

}  // namespace stowage::pack
