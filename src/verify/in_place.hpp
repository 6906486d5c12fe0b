#pragma once

#include "verify/conflicts.hpp"

namespace stowage::verification {

/// Whether op `id` may write the `shared` bytes of `later`, which begins with it, over those of `earlier`, which it
/// reads.
///
/// It lists a pair of an output that starts `later` and an input in `earlier`, both at one address, the output not
/// larger; every input through which it reads `earlier` has a pair, and none that begins elsewhere shows bytes of the
/// output. Only bytes of that input may be taken, as long as the op writes no other member of either value there. Never
/// what lies in a caller's buffer. That nobody else needs `earlier` any more is for the caller to see.
[[nodiscard]] bool may_take_over(const Facts& facts, OpId id, const Claim& earlier, const Claim& later,
                                 ByteRange shared);

}  // namespace stowage::verification
