#include "stowage/runtime/pmr.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage::runtime {
namespace {

// ----------------------------------------------------------------------------------------------------------- resource

TEST(PmrResource, StandardContainersLiveInAnAllocator) {
  TestAllocator heap;
  PmrResource resource(heap);
  {
    std::pmr::unordered_map<int, std::pmr::string> map(&resource);
    for (int i = 0; i < 1000; ++i) map.emplace(i, std::string(100, static_cast<char>('a' + i % 26)));
    for (int i = 0; i < 1000; i += 3) map.erase(i);
    EXPECT_EQ(map.at(28), std::pmr::string(100, 'c'));
    EXPECT_GT(heap.stats().live, 1000U);
  }
  EXPECT_EQ(heap.stats().live, 0U);
}

TEST(PmrResource, AnyAlignmentIsServed) {
  TestAllocator heap;  // aligned to 512
  PmrResource resource(heap);
  for (std::size_t alignment = 1; alignment <= 1 << 20; alignment *= 2) {
    std::vector<void*> blocks;
    for (int i = 0; i < 4; ++i) {
      blocks.push_back(resource.allocate(1000, alignment));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignment, 0U);
      std::memset(blocks.back(), i, 1000);
    }
    for (int i = 0; i < 4; ++i) {
      const auto* const bytes = static_cast<const unsigned char*>(blocks[static_cast<std::size_t>(i)]);
      EXPECT_EQ(std::count(bytes, bytes + 1000, i), 1000);
      resource.deallocate(blocks[static_cast<std::size_t>(i)], 1000, alignment);
    }
    EXPECT_EQ(heap.stats().live, 0U) << "alignment " << alignment;
  }
}

TEST(PmrResource, AlignmentsUpToTheAllocatorsCostNothing) {
  TestAllocator heap;
  PmrResource resource(heap);
  void* const block = resource.allocate(512, 512);
  EXPECT_EQ(heap.stats().requested, Bytes(512));
  void* const aligned = resource.allocate(512, 1024);
  EXPECT_EQ(heap.stats().requested, Bytes(512 + 512 + 1024 + 8));
  resource.deallocate(block, 512, 512);
  resource.deallocate(aligned, 512, 1024);
}

/// An allocator whose alignment is less than a pointer's: there is still room to store the original address.
TEST(PmrResource, BytesWithoutAlignmentCanBeAlignedToo) {
  TestResource below;
  PmrAllocator bytes(below, {.alignment = Bytes(1)});
  PmrResource resource(bytes);
  for (std::size_t alignment = 2; alignment <= 64; alignment *= 2) {
    void* const block = resource.allocate(3, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
    std::memset(block, 1, 3);
    resource.deallocate(block, 3, alignment);
  }
}

TEST(PmrResource, FailuresAreBadAlloc) {
  TestAllocator heap(Bytes(4096));
  PmrResource resource(heap);
  const auto allocate = [&](std::size_t bytes, std::size_t alignment) {
    static_cast<void>(resource.allocate(bytes, alignment));
  };
  EXPECT_THROW(allocate(8192, 8), std::bad_alloc);
  EXPECT_THROW(allocate(SIZE_MAX, 8), std::bad_alloc);
  EXPECT_THROW(allocate(SIZE_MAX / 2, 4096), std::bad_alloc);
  EXPECT_THROW(allocate(16, std::size_t{1} << 63), std::bad_alloc);
  EXPECT_THROW(allocate(16, 24), std::bad_alloc) << "not a power of two";
  EXPECT_THROW(allocate(16, 0), std::bad_alloc);
  std::pmr::vector<int> vector(&resource);
  EXPECT_THROW(vector.resize(10000), std::bad_alloc);
  vector.resize(100);
}

TEST(PmrResource, NoBytesAreStillAnAddress) {
  TestAllocator heap;
  PmrResource resource(heap);
  void* const first = resource.allocate(0, 1);
  void* const second = resource.allocate(0, 4096);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_NE(first, second);
  resource.deallocate(first, 0, 1);
  resource.deallocate(second, 0, 4096);
}

TEST(PmrResource, EqualMeansTheSameAllocatorAndStream) {
  TestAllocator heap;
  TestAllocator other;
  const PmrResource resource(heap);
  EXPECT_TRUE(resource.is_equal(resource));
  EXPECT_TRUE(resource.is_equal(PmrResource(heap)));
  EXPECT_FALSE(resource.is_equal(PmrResource(other)));
  EXPECT_FALSE(resource.is_equal(PmrResource(heap, StreamId(1))));
  EXPECT_FALSE(resource.is_equal(*std::pmr::new_delete_resource()));
}

TEST(PmrResource, AllocatesForItsStream) {
  TestAllocator heap;
  PmrResource resource(heap, StreamId(4));
  void* const block = resource.allocate(10);
  EXPECT_EQ(heap.snapshot().segments.at(0).stream, StreamId(4));
  resource.deallocate(block, 10);
}

// ---------------------------------------------------------------------------------------------------------- allocator

/// Throws what it is told to.
class Throwing final : public std::pmr::memory_resource {
 public:
  enum class What { error, number };
  explicit Throwing(What what) : what_(what) {}

 private:
  void* do_allocate(std::size_t, std::size_t) override {
    if (what_ == What::number) throw 7;
    throw std::runtime_error("the disk is on fire");
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  What what_;
};

TEST(PmrAllocator, ExhaustionIsOutOfMemoryWithFigures) {
  TestResource below(1000);
  PmrAllocator allocator(below);
  std::byte* const address = allocator.allocate(Bytes(500), {}).value();
  const Result<std::byte*> failed = allocator.allocate(Bytes(600), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(failed.error().message, "pmr: 600 bytes requested, 500 are live: the resource is out of memory");
  EXPECT_EQ(allocator.stats().failures, 1U);
  allocator.free(address, Bytes(500), {});
}

TEST(PmrAllocator, OtherExceptionsAreErrorsOfTheDevice) {
  Throwing error(Throwing::What::error);
  const Result<std::byte*> failed = PmrAllocator(error).allocate(Bytes(10), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::device);
  EXPECT_NE(failed.error().message.find("the disk is on fire"), std::string::npos);
  Throwing number(Throwing::What::number);
  EXPECT_EQ(PmrAllocator(number).allocate(Bytes(10), {}).error().code, ErrorCode::device);
}

TEST(PmrAllocator, TheResourceGetsBackWhatItGave) {
  TestResource below;
  PmrAllocator allocator(below);
  std::byte* const address = allocator.allocate(Bytes(100), {}).value();
  EXPECT_EQ(below.live(), 128U) << "sizes are rounded to the alignment";
  EXPECT_EQ(allocator.stats().reserved, Bytes(128));
  allocator.free(address, Bytes(100), {});
  EXPECT_EQ(below.live(), 0U);
  EXPECT_EQ(allocator.stats().reserved, Bytes(0));
  EXPECT_EQ(allocator.stats().creates, 1U);
  EXPECT_EQ(allocator.stats().releases, 1U);
}

TEST(PmrAllocator, UseOfWhatIsNoAllocationIsInvalid) {
  TestResource below;
  PmrAllocator allocator(below);
  std::byte* const address = allocator.allocate(Bytes(100), {}).value();
  EXPECT_TRUE(allocator.record_use(address, StreamId(1)));
  EXPECT_FALSE(allocator.record_use(address + 1, StreamId(1)));
  allocator.free(address, Bytes(100), {});
  EXPECT_EQ(allocator.record_use(address, StreamId(1)).error().code, ErrorCode::invalid);
}

TEST(PmrAllocatorDeathTest, AWrongFreeIsNamed) {
  TestResource below;
  PmrAllocator allocator(below, {.checks = Checks::on});
  std::byte* const address = allocator.allocate(Bytes(100), StreamId(1)).value();
  EXPECT_DEATH(allocator.free(address + 64, Bytes(100), StreamId(1)), "not the start of an allocation");
  EXPECT_DEATH(allocator.free(address, Bytes(99), StreamId(1)), "the size differs");
  EXPECT_DEATH(allocator.free(address, Bytes(100), StreamId(2)), "the stream differs");
  allocator.free(address, Bytes(100), StreamId(1));
  EXPECT_DEATH(allocator.free(address, Bytes(100), StreamId(1)), "freed twice");
}

TEST(PmrAllocator, AWrongFreeNeverReachesTheResource) {
  TestResource below;
  PmrAllocator allocator(below, {.checks = Checks::off});
  std::byte* const address = allocator.allocate(Bytes(100), StreamId(1)).value();
  allocator.free(address + 64, Bytes(100), StreamId(1));
  EXPECT_EQ(below.live(), 128U);
  allocator.free(address, Bytes(1), StreamId(1));
  EXPECT_EQ(below.live(), 0U) << "freed with the size that was allocated";
  allocator.free(address, Bytes(100), StreamId(1));
  EXPECT_EQ(allocator.stats().releases, 1U);
}

TEST(PmrAllocator, AMonotonicBufferServesUntilItIsFull) {
  alignas(64) std::byte buffer[4096];
  std::pmr::monotonic_buffer_resource arena(buffer, sizeof buffer, std::pmr::null_memory_resource());
  PmrAllocator allocator(arena);
  for (int i = 0; i < 4; ++i) {
    std::byte* const address = allocator.allocate(Bytes(1024), {}).value();
    EXPECT_EQ(address, buffer + 1024 * i);
    allocator.free(address, Bytes(1024), {});
  }
  EXPECT_EQ(allocator.allocate(Bytes(1), {}).error().code, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace stowage::runtime
