#include "stowage/runtime/physical_pool.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"

namespace stowage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Bytes kKiB{1024};
constexpr Bytes k4KiB{4096};
constexpr Bytes k16KiB{16384};

/// A small device and a pool of its pages. The pool is destroyed before the device is checked for leaks.
class PhysicalPoolTest : public ::testing::Test {
 protected:
  ~PhysicalPoolTest() override {
    pool_.reset();
    EXPECT_EQ(device_->live_objects(), 0U);
    EXPECT_THAT(device_->violations(), IsEmpty());
  }

  PhysicalPool& make(std::optional<Bytes> limit = {}, std::optional<Bytes> memory = {}) {
    device_ = SimDevice::make({.memory = memory, .granularity = kKiB});
    pool_ = std::make_unique<PhysicalPool>(*device_->virtual_memory(), limit);
    return *pool_;
  }

  std::unique_ptr<SimDevice> device_;
  std::unique_ptr<PhysicalPool> pool_;
};

TEST_F(PhysicalPoolTest, AnIdlePageIsTakenAgainBeforeANewOneIsCreated) {
  PhysicalPool& pool = make();
  const Page first = pool.allocate(k4KiB).value();
  const Page second = pool.allocate(k4KiB).value();
  pool.free(first);
  pool.free(second);
  EXPECT_EQ(pool.allocate(k4KiB).value(), second) << "last in, first out";
  EXPECT_EQ(pool.allocate(k4KiB).value(), first);
  EXPECT_EQ(device_->calls(SimCall::create), 2U);
  pool.free(first);
  pool.free(second);
}

TEST_F(PhysicalPoolTest, APageOfAnotherSizeIsNoSubstitute) {
  PhysicalPool& pool = make();
  pool.free(pool.allocate(k16KiB).value());
  const Page page = pool.allocate(k4KiB).value();
  EXPECT_EQ(page.size, k4KiB);
  EXPECT_EQ(pool.counts().created, k16KiB + k4KiB);
  EXPECT_EQ(pool.counts().idle, k16KiB);
  pool.free(page);
}

TEST_F(PhysicalPoolTest, TrimReturnsPagesToTheDeviceLargestFirst) {
  PhysicalPool& pool = make();
  const Page kept = pool.allocate(k16KiB).value();
  const Page small = pool.allocate(kKiB).value();
  const Page middle = pool.allocate(k4KiB).value();
  const Page large = pool.allocate(k16KiB).value();
  for (const Page page : {large, small, middle}) pool.free(page);

  EXPECT_EQ(pool.trim(k4KiB + kKiB), k16KiB);
  EXPECT_EQ(device_->in_use(), k16KiB + k4KiB + kKiB);
  EXPECT_EQ(pool.trim(kKiB), k4KiB);
  EXPECT_EQ(device_->in_use(), k16KiB + kKiB);
  EXPECT_EQ(pool.trim(), kKiB);
  EXPECT_EQ(pool.trim(), Bytes(0)) << "pages in use stay";
  EXPECT_EQ(device_->in_use(), k16KiB);
  pool.free(kept);
}

TEST_F(PhysicalPoolTest, TrimmingNothingReleasesNothing) {
  PhysicalPool& pool = make();
  pool.free(pool.allocate(k4KiB).value());
  EXPECT_EQ(pool.trim(Bytes(0)), Bytes(0));
  EXPECT_EQ(device_->in_use(), k4KiB);
}

TEST_F(PhysicalPoolTest, CountsFollowEveryPage) {
  PhysicalPool& pool = make();
  const Page page = pool.allocate(k4KiB).value();
  pool.free(pool.allocate(k16KiB).value());
  pool.trim();
  EXPECT_EQ(pool.counts().created, k4KiB);
  EXPECT_EQ(pool.counts().created_peak, k16KiB + k4KiB);
  EXPECT_EQ(pool.counts().creates, 2U);
  EXPECT_EQ(pool.counts().releases, 1U);
  pool.reset_peaks();
  EXPECT_EQ(pool.counts().created_peak, k4KiB);
  EXPECT_EQ(pool.counts().creates, 0U);
  EXPECT_EQ(pool.counts().releases, 0U);
  pool.free(page);
}

TEST_F(PhysicalPoolTest, TheLimitHoldsForAllPagesTogetherAndTheErrorNamesTheFigures) {
  PhysicalPool& pool = make(Bytes(20480));
  const Page page = pool.allocate(k16KiB).value();
  const Page rest = pool.allocate(k4KiB).value();
  const Result<Page> refused = pool.allocate(kKiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  for (const char* figure : {"1024", "20480", "0"}) EXPECT_THAT(refused.error().message, HasSubstr(figure));
  EXPECT_EQ(device_->calls(SimCall::create), 2U) << "the device is not even asked";
  pool.free(page);
  pool.free(rest);
}

TEST_F(PhysicalPoolTest, IdlePagesOfOtherSizesMakeRoomWithinTheLimit) {
  PhysicalPool& pool = make(k16KiB);
  const Page page = pool.allocate(k4KiB).value();
  const Page small = pool.allocate(kKiB).value();
  const Page middle = pool.allocate(Bytes(5120)).value();
  pool.free(small);
  pool.free(middle);
  const Page large = pool.allocate(Bytes(10240)).value();
  EXPECT_EQ(pool.counts().created, Bytes(4096 + 1024 + 10240)) << "one page was enough, so the small one stays";
  EXPECT_EQ(pool.counts().idle, kKiB);
  pool.free(page);
  pool.free(large);
}

TEST_F(PhysicalPoolTest, IdlePagesOfOtherSizesMakeRoomOnAFullDevice) {
  PhysicalPool& pool = make({}, k16KiB);
  std::vector<Page> pages;
  for (int i = 0; i < 16; ++i) pages.push_back(pool.allocate(kKiB).value());
  for (int i = 0; i < 15; ++i) pool.free(pages[static_cast<std::size_t>(i)]);
  const Page large = pool.allocate(k4KiB).value();
  EXPECT_EQ(pool.counts().releases, 4U) << "as many as necessary, and no more";
  EXPECT_EQ(device_->in_use(), k16KiB);
  pool.free(large);
  pool.free(pages.back());
}

TEST_F(PhysicalPoolTest, WhatCannotBeGrantedEvenToAnEmptyPoolCostsNoIdlePage) {
  PhysicalPool& pool = make(k16KiB);
  pool.free(pool.allocate(k4KiB).value());
  EXPECT_FALSE(pool.allocate(k16KiB + kKiB));
  EXPECT_EQ(pool.counts().idle, k4KiB);
}

TEST_F(PhysicalPoolTest, ARefusedCreationLeavesEverythingAsItWas) {
  PhysicalPool& pool = make();
  device_->fail(SimCall::create, 1);
  const Result<Page> refused = pool.allocate(k4KiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(pool.counts().created, Bytes(0));
  EXPECT_EQ(pool.counts().creates, 0U);
  pool.free(pool.allocate(k4KiB).value());
}

TEST_F(PhysicalPoolTest, ASizeThatIsNoMultipleOfTheGranularityIsInvalidAndCostsNoIdlePage) {
  PhysicalPool& pool = make();
  pool.free(pool.allocate(k4KiB).value());
  for (const Bytes size : {Bytes(0), Bytes(-1024), Bytes(1000)}) {
    const Result<Page> refused = pool.allocate(size);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  EXPECT_EQ(pool.counts().idle, k4KiB);
  EXPECT_EQ(device_->calls(SimCall::create), 1U) << "checked before the device is asked";
}

TEST_F(PhysicalPoolTest, APageGivenBackWhileMappedMayBeTrimmedAndGoesWhenItIsUnmapped) {
  PhysicalPool& pool = make();
  VirtualMemory& memory = pool.memory();
  std::byte* const base = memory.reserve(k4KiB).value();
  const Page page = pool.allocate(k4KiB).value();
  ASSERT_TRUE(memory.map(base, page.physical, Bytes(0), k4KiB));
  pool.free(page);
  EXPECT_EQ(pool.trim(), k4KiB);
  ASSERT_TRUE(memory.unmap(base, k4KiB));
  EXPECT_EQ(device_->in_use(), Bytes(0));
  ASSERT_TRUE(memory.free(base, k4KiB));
}

}  // namespace
}  // namespace stowage
