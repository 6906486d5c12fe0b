#pragma once

namespace stowage::runtime {

/// Whether exit handlers are running that were registered before the first object of this module was made: drivers that such an
/// object needed may be gone by then, so that whatever is destroyed so late calls none. The first call arms it, hence every
/// constructor whose destructor asks calls it too.
bool process_is_exiting();

}  // namespace stowage::runtime
