#pragma once

#include <algorithm>

#include "stowage/base.hpp"

namespace stowage::runtime {

/// The rounded size of a request. Impossibly large sizes stay impossibly large, without overflow.
inline Bytes rounded(Bytes size, Bytes alignment) { return align_up(std::min(size, kMaxBytes), alignment); }

}  // namespace stowage::runtime
