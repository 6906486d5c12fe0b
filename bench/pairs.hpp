#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#include "stowage/runtime/allocator.hpp"
#include "timing.hpp"

/// Pairs of an allocation and its free, by one thread and by many.
namespace stowage::bench {

/// Where a bench puts its threads: the one with a number on the core with as many times it. 0: where the system likes.
inline std::size_t core_stride = 0;

inline void place_thread(std::size_t number) {
  if (core_stride == 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(number * core_stride, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

/// Nanoseconds of a pair, again and again.
inline double pair_time(Allocator& allocator, Bytes size, StreamId stream, std::size_t count) {
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < count; ++i) allocator.deallocate(*allocator.allocate(size, stream), size, stream);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(count);
}

/// Pairs a microsecond, of threads that each do the same on the stream with this number.
inline double throughput(Allocator& allocator, Bytes size, const std::vector<StreamId>& streams, std::size_t count) {
  std::vector<std::thread> running;
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    running.emplace_back([&, i] {
      place_thread(i);
      pair_time(allocator, size, streams[i], count);
    });
  }
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(streams.size() * count) / 1e3 / milliseconds_since(start);
}

/// Blocks on their way from one thread to another, two boxes of them in turn, so that what is measured is not the hand-over.
class Conveyor {
 public:
  static constexpr std::size_t kBlocks = 128;
  using Blocks = std::array<std::byte*, kBlocks>;

  /// Calls `fill` with a box that is empty, if there is one.
  template <typename Fill>
  bool offer(const Fill& fill) {
    Box& box = boxes_[offered_ % 2];
    if (box.full.load(std::memory_order_acquire)) return false;
    fill(box.blocks);
    box.full.store(true, std::memory_order_release);
    ++offered_;
    return true;
  }
  /// Calls `drain` with a box that is full, if there is one.
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

/// As many blocks on each stream as will ever be live there at once, so that what follows are hits.
inline void warm_up(Allocator& allocator, Bytes size, const std::vector<StreamId>& streams) {
  std::vector<std::pair<std::byte*, StreamId>> blocks;
  for (const StreamId stream : streams) {
    for (std::size_t i = 0; i < 3 * Conveyor::kBlocks; ++i) blocks.emplace_back(*allocator.allocate(size, stream), stream);
  }
  for (const auto& [block, stream] : blocks) allocator.deallocate(block, size, stream);
}

/// Who frees the blocks of a conveyor.
enum class Freer : std::uint8_t {
  another,  ///< The thread of the next stream; with one stream, a second thread.
  itself,   ///< The thread that allocated them.
};

/// Pairs a microsecond, when each thread allocates on the stream with its number, box after box.
inline double boxed_throughput(Allocator& allocator, Bytes size, const std::vector<StreamId>& streams, std::size_t count,
                               Freer freer) {
  const std::size_t boxes = count / Conveyor::kBlocks;
  std::vector<Conveyor> conveyors(streams.size());
  const auto work = [&](std::size_t to_fill, std::size_t to_drain) {  // the number of threads: none
    place_thread(std::min(to_fill, streams.size()));
    std::size_t filled = to_fill < streams.size() ? 0 : boxes;
    std::size_t drained = to_drain < streams.size() ? 0 : boxes;
    for (std::size_t idle = 0; filled < boxes || drained < boxes; ++idle) {
      bool moved = false;
      if (filled < boxes && conveyors[to_fill].offer([&](Conveyor::Blocks& blocks) {
            for (std::byte*& block : blocks) block = *allocator.allocate(size, streams[to_fill]);
          })) {
        ++filled;
        moved = true;
      }
      if (drained < boxes && conveyors[to_drain].accept([&](Conveyor::Blocks& blocks) {
            for (std::byte* const block : blocks) allocator.deallocate(block, size, streams[to_drain]);
          })) {
        ++drained;
        moved = true;
      }
      // Yielding at once would hand the core to whatever else the machine does, for milliseconds.
      if (moved) idle = 0;
      if (idle > 100000) std::this_thread::yield();
    }
  };
  warm_up(allocator, size, streams);
  std::vector<std::thread> running;
  const Clock::time_point start = Clock::now();
  const std::size_t none = streams.size();
  if (streams.size() == 1 && freer == Freer::another) {
    running.emplace_back(work, 0, none);
    running.emplace_back(work, none, 0);
  } else {
    const std::size_t shift = freer == Freer::another ? streams.size() - 1 : 0;
    for (std::size_t i = 0; i < streams.size(); ++i) running.emplace_back(work, i, (i + shift) % streams.size());
  }
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(streams.size() * boxes * Conveyor::kBlocks) / 1e3 / milliseconds_since(start);
}

}  // namespace stowage::bench
