#pragma once

#include "stowage/plan.hpp"

namespace stowage::pack {

/// The greatest common divisor of all sizes, alignments, pins and pieces of items that have bytes, and of the distances
/// of joins and the bytes that are kept apart. Some optimal answer uses only multiples of it, because each offset is a
/// sum of sizes and distances, rounded up to alignments, starting from the ground or a pin. So only such peaks need to
/// be searched.
[[nodiscard]] std::int64_t grain_of(const Problem& problem);

}  // namespace stowage::pack
