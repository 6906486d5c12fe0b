#include <atomic>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "stowage/runtime/pmr.hpp"
#include "support/runtime/plain_allocator.hpp"

/// The test allocator has no lock: TSan reports every call that bypasses a `LockAdaptor`, and any unprotected data of
/// an adaptor.
namespace stowage::runtime {
namespace {

constexpr std::size_t kThreads = 4;

template <class Work>
void in_threads(const Work& work) {
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) threads.emplace_back([&work, t] { work(StreamId(t)); });
}

void give(Allocator& allocator, std::byte* address, Bytes size, StreamId stream) {
  allocator.free(address, size, stream);
}

TEST(AdaptorThreads, ALockMakesAnAllocatorForOneThreadServeMany) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  in_threads([&](StreamId stream) {
    const auto mark = static_cast<std::byte>(stream.index());
    for (int i = 0; i < 300; ++i) {
      const Bytes size(100 + i);
      std::byte* const address = lock.allocate(size, stream).value();
      *address = mark;
      EXPECT_TRUE(lock.record_use(address, stream));
      EXPECT_FALSE(i % 50 == 0 && lock.snapshot().segments.empty());
      if (i % 70 == 0) lock.trim();
      if (i % 90 == 0) lock.reset_peaks();
      EXPECT_GE(lock.stats().live, 1U);
      EXPECT_EQ(*address, mark);
      give(lock, address, size, stream);
    }
  });
  EXPECT_EQ(lock.stats().live, 0U);
  EXPECT_EQ(heap.recorded().size(), 300 * kThreads);
}

TEST(AdaptorThreads, StatisticsLoseNothing) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  StatisticsAdaptor statistics(lock);
  statistics.push();
  in_threads([&](StreamId stream) {
    for (int i = 0; i < 500; ++i) give(statistics, statistics.allocate(Bytes(700), stream).value(), Bytes(700), stream);
  });
  const AllocationCounters level = statistics.pop().value();
  EXPECT_EQ(level.requested, Bytes(0));
  EXPECT_EQ(level.allocations, 500 * kThreads);
  EXPECT_EQ(level.frees, 500 * kThreads);
  EXPECT_GE(level.requested_peak, Bytes(700));
  EXPECT_LE(level.requested_peak, Bytes(700 * kThreads));
}

TEST(AdaptorThreads, ThoseWithinALimitTogetherAreNeverRefused) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  LimitAdaptor limit(lock, Bytes(1024 * kThreads));
  std::atomic<int> refused = 0;
  in_threads([&](StreamId stream) {
    for (int i = 0; i < 1000; ++i) {
      const Result<std::byte*> address = limit.allocate(Bytes(1024), stream);
      if (!address) ++refused;
      if (address) give(limit, *address, Bytes(1024), stream);
    }
  });
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(limit.used(), Bytes(0));
}

TEST(AdaptorThreads, ALimitIsNeverExceeded) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  LimitAdaptor limit(lock, Bytes(2048));
  in_threads([&](StreamId stream) {
    for (int i = 0; i < 1000; ++i) {
      const Result<std::byte*> address = limit.allocate(Bytes(1024), stream);
      if (address) give(limit, *address, Bytes(1024), stream);
    }
  });
  EXPECT_LE(heap.stats().rounded_peak, Bytes(2048));
  EXPECT_EQ(limit.used(), Bytes(0));
}

/// Read line by line, no live address is allocated again and only live ones are freed, although threads pass addresses
/// to each other.
TEST(AdaptorThreads, TheLinesOfALogAreInAPossibleOrder) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  std::ostringstream out;
  LogAdaptor log(lock, out);
  in_threads([&](StreamId stream) {
    for (int i = 0; i < 300; ++i) give(log, log.allocate(Bytes(100), stream).value(), Bytes(100), stream);
  });
  std::map<std::string, int> live;
  std::map<std::string, int> threads;
  std::istringstream lines(out.str());
  std::string thread, time, action, pointer, rest;
  std::getline(lines, rest);
  while (std::getline(lines, thread, ',') && std::getline(lines, time, ',') && std::getline(lines, action, ',') &&
         std::getline(lines, pointer, ',') && std::getline(lines, rest)) {
    ++threads[thread];
    int& count = live[pointer];
    count += action == "allocate" ? 1 : -1;
    ASSERT_TRUE(count == 0 || count == 1) << action << " of " << pointer;
  }
  ASSERT_EQ(threads.size(), kThreads);
  for (const auto& [number, lines_of_it] : threads) EXPECT_EQ(lines_of_it, 600) << number;
}

TEST(AdaptorThreads, FailuresAreInjectedAsOftenAsTold) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  FailureAdaptor failure(lock, {.every = 5});
  std::atomic<int> given_up = 0;
  FailureCallbackAdaptor callback(failure, [&](Bytes, StreamId, const Error&) {
    ++given_up;
    return false;
  });
  in_threads([&](StreamId stream) {
    for (int i = 0; i < 500; ++i) {
      const Result<std::byte*> address = callback.allocate(Bytes(10), stream);
      if (address) give(callback, *address, Bytes(10), stream);
    }
  });
  EXPECT_EQ(given_up, 100 * static_cast<int>(kThreads));
  EXPECT_EQ(callback.stats().failures, 100 * kThreads);
  EXPECT_EQ(failure.stats().failures, 100 * kThreads);
}

TEST(AdaptorThreads, AnAllocatorOverASafeResourceIsSafe) {
  std::pmr::synchronized_pool_resource pool;
  PmrAllocator allocator(pool);
  PmrResource resource(allocator);
  in_threads([&](StreamId) {
    for (std::size_t i = 0; i < 300; ++i) {
      std::pmr::vector<std::size_t> numbers(i + 1, i, &resource);
      EXPECT_EQ(numbers.back(), i);
    }
  });
  EXPECT_EQ(allocator.stats().live, 0U);
  EXPECT_EQ(allocator.stats().allocations, 300 * kThreads);
}

}  // namespace
}  // namespace stowage::runtime
