#include "runtime/exiting.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace stowage::runtime {

bool process_is_exiting() {
  static std::atomic<bool> exiting{false};  // trivially destructible: readable until the process ends
  [[maybe_unused]] static const int armed = std::atexit([] { exiting = true; });
  return exiting.load(std::memory_order_relaxed);
}

void keep_for_ever(std::shared_ptr<void> thing) {
  static std::mutex& mutex = *new std::mutex;
  static std::vector<std::shared_ptr<void>>& kept =
      *new std::vector<std::shared_ptr<void>>;  // still reachable, so leak checkers do not report it
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(thing));
}

}  // namespace stowage::runtime
