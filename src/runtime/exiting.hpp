#pragma once

#include <memory>

namespace stowage::runtime {

/// Whether exit handlers are running that were registered before the first object of this module was made. Drivers that
/// such an object needed may be gone by then, so objects destroyed that late must not call them. The first call
/// registers the handler; therefore every constructor whose destructor calls this function calls it too.
bool process_is_exiting();

/// Keeps the object alive for ever, because a device may still be using it and nothing can wait for that. Thread-safe.
void keep_for_ever(std::shared_ptr<void> thing);

}  // namespace stowage::runtime
