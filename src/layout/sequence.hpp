#pragma once

#include <span>

#include "layout/stages.hpp"

namespace stowage::layout {

/// With several streams: whether in every run all accesses to `earlier` happen before all accesses to `later`, except
/// that both may be accessed at one of `steps` (ascending), where one hands its bytes over to the other. O(accesses²).
[[nodiscard]] bool comes_before(const StorageInput& input, const ByClass<Life>& lives, ClassId earlier, ClassId later,
                                std::span<const Step> steps);

}  // namespace stowage::layout
