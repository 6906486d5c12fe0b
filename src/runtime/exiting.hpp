#pragma once

namespace stowage::runtime {

/// Whether the process is running its exit handlers. Drivers may be gone by then: objects that are destroyed so late call none.
/// The first call arms it, so every constructor whose destructor asks calls it too.
bool process_is_exiting();

}  // namespace stowage::runtime
