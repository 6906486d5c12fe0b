#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace stowage::runtime {

/// Distance between data written by different threads, to avoid false sharing: two cache lines, because processors
/// prefetch pairs of lines.
inline constexpr std::size_t kApart = 128;

/// A mutex for rarely contended data. Uncontended it costs half of what std::mutex does, because unlocking is a plain
/// store. A waiting thread spins, then yields, then sleeps for a few microseconds at a time, since the lock may be held
/// during a call to the device. Not fair.
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
