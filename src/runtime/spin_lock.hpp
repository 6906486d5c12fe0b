#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace stowage::runtime {

/// What different threads write lies this far apart, so that they do not wait for each other's caches: two lines,
/// because processors fetch pairs.
inline constexpr std::size_t kApart = 128;

/// A mutex for threads that hardly ever meet: half the price of std::mutex when they do not, because letting go is a
/// plain write. Who does not get it spins, then yields, then sleeps for some microseconds at a time, for it may be held
/// while a device is asked for memory. Not fair.
class SpinLock {
 public:
  void lock() {
    if (!try_lock()) wait();
  }
  [[nodiscard]] bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  void wait() {
    for (int i = 0;; ++i) {
      if (!taken_.load(std::memory_order_relaxed) && try_lock()) return;
      if (i > kSpins + kYields)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      else if (i > kSpins)
        std::this_thread::yield();
    }
  }

  static constexpr int kSpins = 200;
  static constexpr int kYields = 100;

  std::atomic<bool> taken_{false};
};

}  // namespace stowage::runtime
