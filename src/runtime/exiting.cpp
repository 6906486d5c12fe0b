#include "runtime/exiting.hpp"

#include <atomic>
#include <cstdlib>

namespace stowage::runtime {

bool process_is_exiting() {
  static std::atomic<bool> exiting{false};  // trivially destroyed: readable to the very end
  [[maybe_unused]] static const int armed = std::atexit([] { exiting = true; });
  return exiting.load(std::memory_order_relaxed);
}

}  // namespace stowage::runtime
