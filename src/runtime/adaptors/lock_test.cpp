#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage::runtime {
namespace {

TEST(LockAdaptor, PassesStreamsOn) {
  TestAllocator heap;
  LockAdaptor lock(heap);
  std::byte* const address = lock.allocate(Bytes(1), StreamId(3)).value();
  EXPECT_TRUE(lock.record_use(address, StreamId(5)));
  EXPECT_EQ(heap.recorded(), std::vector<StreamId>{StreamId(5)});
  EXPECT_EQ(lock.snapshot().segments.at(0).stream, StreamId(3));
  lock.free(address, Bytes(1), StreamId(3));
}

}  // namespace
}  // namespace stowage::runtime
