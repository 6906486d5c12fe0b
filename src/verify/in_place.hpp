#pragma once

#include "verify/conflicts.hpp"

namespace stowage::verification {

/// Whether op `id` may overwrite the `shared` bytes of `earlier`, which it reads, with those of `later`, which begins
/// with it.
///
/// All of this must hold:
/// - The op lists an in-place pair of an output at the start of `later` and an input in `earlier`, both at one address,
///   and the output is not larger.
/// - Every input through which the op reads `earlier` has a pair with that same output, and no input that begins
///   elsewhere overlaps the output. A pair with another output says nothing about this one.
/// - All shared bytes are bytes of that input, and the op writes no other member of either value to them.
/// - `earlier` does not lie in a caller's buffer.
///
/// The caller must check that nobody else needs `earlier` any more.
[[nodiscard]] bool may_take_over(const Facts& facts, OpId id, const Claim& earlier, const Claim& later,
                                 ByteRange shared);

}  // namespace stowage::verification
