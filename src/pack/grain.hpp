#pragma once

#include "stowage/plan.hpp"

namespace stowage::pack {

/// The common divisor of all sizes, alignments, pins and pieces; what has no bytes does not count. Some best answer
/// lies on multiples of it, for each offset is a sum of sizes, rounded up to alignments, from the ground or a pin. So
/// only such peaks need to be asked for.
[[nodiscard]] std::int64_t grain_of(const Problem& problem);

}  // namespace stowage::pack
