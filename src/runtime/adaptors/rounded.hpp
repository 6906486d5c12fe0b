#pragma once

#include <algorithm>

#include "stowage/base.hpp"

namespace stowage::runtime {

/// What a request takes; sizes that nobody can give stay sizes that nobody can give, without overflow.
inline Bytes rounded(Bytes size, Bytes alignment) { return align_up(std::min(size, kMaxBytes), alignment); }

}  // namespace stowage::runtime
