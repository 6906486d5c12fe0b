#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#include "stowage/runtime/allocator.hpp"
#include "timing.hpp"

/// Measures pairs of an allocation and its free, by one thread and by many.
namespace stowage::bench {

/// Thread i runs on core i * `core_stride`. 0: the system decides.
inline std::size_t core_stride = 0;

inline void place_thread(std::size_t number) {
  if (core_stride == 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(number * core_stride, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

/// Nanoseconds per pair, over `count` pairs.
inline double pair_time(Allocator& allocator, Bytes size, StreamId stream, std::size_t count) {
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < count; ++i) allocator.free(*allocator.allocate(size, stream), size, stream);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(count);
}

/// Allocates and frees as many blocks per stream as will ever be live at once, so that all later requests are hits.
inline void warm_up(Allocator& allocator, Bytes size, const std::vector<StreamId>& streams, std::size_t count) {
  std::vector<std::pair<std::byte*, StreamId>> blocks;
  for (const StreamId stream : streams) {
    for (std::size_t i = 0; i < count; ++i) blocks.emplace_back(*allocator.allocate(size, stream), stream);
  }
  for (const auto& [block, stream] : blocks) allocator.free(block, size, stream);
}

/// Threads that work at the same time, for a fixed period. Only work within that period is counted; starting the
/// threads and waiting for the slowest are not part of it.
class Crew {
 public:
  explicit Crew(std::size_t threads) : done_(threads), ready_(static_cast<std::ptrdiff_t>(threads) + 1) {}

  /// Calls `work(number)` repeatedly in each thread; `work` returns the number of pairs it has done. The first thread
  /// is placed as number `first_core`. Returns the pairs per microsecond of all threads together.
  template <typename Work>
  double run(std::size_t first_core, const Work& work) {
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      running.emplace_back([&, i] {
        place_thread(first_core + i);
        work(i);  // includes everything that happens only once
        ready_.arrive_and_wait();
        std::uint64_t done = 0;
        while (!stop_.load(std::memory_order_relaxed)) done += work(i);
        done_[i].pairs = done;
      });
    }
    ready_.arrive_and_wait();
    const Clock::time_point start = Clock::now();
    std::this_thread::sleep_for(kWhile);
    stop_.store(true, std::memory_order_relaxed);
    const double milliseconds = milliseconds_since(start);
    for (std::thread& thread : running) thread.join();
    std::uint64_t pairs = 0;
    for (const Done& each : done_) pairs += each.pairs;
    return static_cast<double>(pairs) / 1e3 / milliseconds;
  }

 private:
  static constexpr std::chrono::milliseconds kWhile{60};
  struct alignas(128) Done {
    std::uint64_t pairs = 0;
  };

  std::vector<Done> done_;
  std::barrier<> ready_;
  alignas(128) std::atomic<bool> stop_{false};
};

/// Pairs per microsecond, with one thread per entry of `streams`. The first thread is placed as number `first_core`.
inline double throughput(Allocator& allocator, Bytes size, const std::vector<StreamId>& streams,
                         std::size_t first_core = 0) {
  constexpr std::size_t kAtOnce = 64;
  warm_up(allocator, size, streams, 1);
  return Crew(streams.size()).run(first_core, [&](std::size_t i) {
    pair_time(allocator, size, streams[i], kAtOnce);
    return kAtOnce;
  });
}

/// Passes blocks from one thread to another, in two alternating boxes, so that the cost of the hand-over is negligible.
class Conveyor {
 public:
  static constexpr std::size_t kBlocks = 128;
  using Blocks = std::array<std::byte*, kBlocks>;

  /// Calls `fill` with an empty box, if there is one.
  template <typename Fill>
  bool offer(const Fill& fill) {
    Box& box = boxes_[offered_ % 2];
    if (box.full.load(std::memory_order_acquire)) return false;
    fill(box.blocks);
    box.full.store(true, std::memory_order_release);
    ++offered_;
    return true;
  }
  /// Calls `drain` with a full box, if there is one.
  template <typename Drain>
  bool accept(const Drain& drain) {
    Box& box = boxes_[accepted_ % 2];
    if (!box.full.load(std::memory_order_acquire)) return false;
    drain(box.blocks);
    box.full.store(false, std::memory_order_release);
    ++accepted_;
    return true;
  }

 private:
  struct alignas(128) Box {
    std::atomic<bool> full{false};
    Blocks blocks{};
  };
  std::array<Box, 2> boxes_;
  alignas(128) std::size_t offered_ = 0;
  alignas(128) std::size_t accepted_ = 0;
};

/// Who frees the blocks of a conveyor.
enum class Freer : std::uint8_t {
  another,  ///< The thread of the next stream; with one stream, a second thread.
  itself,   ///< The thread that allocated them.
};

/// Pairs per microsecond, with threads that allocate whole boxes on their own streams.
inline double boxed_throughput(Allocator& allocator, Bytes size, const std::vector<StreamId>& streams, Freer freer,
                               std::size_t first_core = 0) {
  std::vector<Conveyor> conveyors(streams.size());
  const auto fill = [&](std::size_t number) {
    return conveyors[number].offer([&](Conveyor::Blocks& blocks) {
      for (std::byte*& block : blocks) block = *allocator.allocate(size, streams[number]);
    });
  };
  const auto drain = [&](std::size_t number) {
    return conveyors[number].accept([&](Conveyor::Blocks& blocks) {
      for (std::byte* const block : blocks) allocator.free(block, size, streams[number]);
    });
  };
  const auto pairs = [](bool drained) { return drained ? Conveyor::kBlocks : 0; };
  warm_up(allocator, size, streams, 3 * Conveyor::kBlocks);
  double done = 0;
  if (streams.size() == 1 && freer == Freer::another) {
    done = Crew(2).run(first_core, [&](std::size_t i) { return i == 0 ? (fill(0), 0) : pairs(drain(0)); });
  } else {
    const std::size_t shift = freer == Freer::another ? streams.size() - 1 : 0;
    done = Crew(streams.size()).run(first_core, [&](std::size_t i) {
      fill(i);
      return pairs(drain((i + shift) % streams.size()));
    });
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    while (drain(i)) {
    }
  }
  return done;
}

}  // namespace stowage::bench
