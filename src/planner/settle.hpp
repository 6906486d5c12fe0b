#pragma once

#include <span>
#include <vector>

#include "layout/interface/layout.hpp"
#include "lower/interface/lower.hpp"

namespace stowage {

/// Puts storages that an answer has joined into one: in the layout, in the Problems, and in the answer. So what follows
/// sees which tensors share memory as a fact. `solutions` has one entry per arena.
void settle(Layout& layout, Lowering& lowering, std::span<ArenaSolution> solutions);

}  // namespace stowage
