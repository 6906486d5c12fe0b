#include "layout/sequence.hpp"

#include <algorithm>

namespace stowage::layout {

bool comes_before(const StorageInput& input, const ByClass<Life>& lives, ClassId earlier, ClassId later,
                  std::span<const Step> steps) {
  if (lives[earlier].sides.after || lives[later].sides.before) return false;
  for (const Step a : input.accesses[earlier]) {
    for (const Step b : input.accesses[later]) {
      if (a == b ? std::binary_search(steps.begin(), steps.end(), a) : input.order.before(a, b)) continue;
      if (compatible(input.timeline, a, b)) return false;
    }
  }
  return true;
}

}  // namespace stowage::layout
