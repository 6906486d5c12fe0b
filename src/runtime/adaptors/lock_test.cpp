#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/test_allocator.hpp"
#include "stowage/runtime/adaptors.hpp"

namespace stowage::runtime {
namespace {

/// The test allocator has no lock; TSan sees every call that slips past the adaptor's.
TEST(LockAdaptor, ManyThreadsShareAnAllocatorForOne) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&lock, t] {
        const StreamId stream(t);
        for (int i = 0; i < 300; ++i) {
          const Bytes size(100 + i);
          std::byte* const address = lock.allocate(size, stream).value();
          *address = static_cast<std::byte>(t);
          EXPECT_TRUE(lock.record_use(address, stream));
          EXPECT_FALSE(i % 50 == 0 && lock.snapshot().segments.empty());
          if (i % 70 == 0) lock.trim();
          if (i % 90 == 0) lock.reset_peaks();
          EXPECT_GE(lock.stats().live, 1U);
          EXPECT_EQ(*address, static_cast<std::byte>(t));
          lock.deallocate(address, size, stream);
        }
      });
    }
  }
  EXPECT_EQ(lock.stats().live, 0U);
  EXPECT_EQ(heap.recorded().size(), 1200U);
}

TEST(LockAdaptor, PassesStreamsOn) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  std::byte* const address = lock.allocate(Bytes(1), StreamId(3)).value();
  EXPECT_TRUE(lock.record_use(address, StreamId(5)));
  EXPECT_EQ(heap.recorded(), std::vector<StreamId>{StreamId(5)});
  EXPECT_EQ(lock.snapshot().segments.at(0).stream, StreamId(3));
  lock.deallocate(address, Bytes(1), StreamId(3));
}

}  // namespace
}  // namespace stowage::runtime
