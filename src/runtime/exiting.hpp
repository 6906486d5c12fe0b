#pragma once

#include <memory>

namespace stowage::runtime {

/// Whether exit handlers are running that were registered before the first object of this module was made: drivers that
/// such an object needed may be gone by then, so that whatever is destroyed so late calls none. The first call arms it,
/// hence every constructor whose destructor asks calls it too.
bool process_is_exiting();

/// Never destroys what it is given: something that a device may still be using, though nobody can wait for that.
/// Thread-safe.
void keep_for_ever(std::shared_ptr<void> thing);

}  // namespace stowage::runtime
