#include "runtime/magazine.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

/// An address that nobody touches.
std::byte* block(std::size_t number) { return reinterpret_cast<std::byte*>(number * 512); }

TEST(Magazine, ReturnsTheLastThatWasPut) {
  Magazine magazine;
  EXPECT_EQ(magazine.take(1, Bytes(0)), nullptr);
  EXPECT_TRUE(magazine.put(1, block(1), Bytes(0)));
  EXPECT_TRUE(magazine.put(1, block(2), Bytes(0)));
  EXPECT_TRUE(magazine.put(2, block(3), Bytes(0)));
  EXPECT_EQ(magazine.take(1, Bytes(0)), block(2));
  EXPECT_EQ(magazine.take(2, Bytes(0)), block(3));
  EXPECT_EQ(magazine.take(2, Bytes(0)), nullptr);
  EXPECT_EQ(magazine.take(1, Bytes(0)), block(1));
}

TEST(Magazine, HoldsLittleOfEachSize) {
  for (std::size_t units = 1; units <= Magazine::kLargest; ++units) {
    Magazine magazine;
    std::size_t count = 0;
    while (magazine.put(units, block(count + 1), Bytes(0))) ++count;
    EXPECT_GE(count, 2U) << units;
    EXPECT_LE(count, Magazine::kDepth) << units;
    EXPECT_TRUE(count == 2 || count * units <= 32) << units;
  }
}

TEST(Magazine, SpillsTheOlderHalf) {
  Magazine magazine;
  for (std::size_t i = 1; i <= 16; ++i) ASSERT_TRUE(magazine.put(2, block(i), Bytes(0)));
  Magazine::Blocks out{};
  ASSERT_EQ(magazine.spill(2, out), 8U);
  for (std::size_t i = 1; i <= 8; ++i) EXPECT_EQ(out[i - 1], block(i));
  for (std::size_t i = 16; i > 8; --i) EXPECT_EQ(magazine.take(2, Bytes(0)), block(i));
  EXPECT_EQ(magazine.take(2, Bytes(0)), nullptr);
}

TEST(Magazine, SendsManyBlocksAtATime) {
  Magazine magazine;
  Magazine::Blocks out{};
  for (std::size_t i = 1; i < 16; ++i) ASSERT_EQ(magazine.send(block(i), Bytes(1 << 20), out), 0U);
  ASSERT_EQ(magazine.send(block(16), Bytes(1 << 20), out), 16U);
  for (std::size_t i = 1; i <= 16; ++i) EXPECT_EQ(out[i - 1], block(i));
  EXPECT_EQ(magazine.send(block(17), Bytes(1 << 20), out), 0U);
}

TEST(Magazine, SendsLargeBlocksAtOnce) {
  Magazine magazine;
  Magazine::Blocks out{};
  EXPECT_EQ(magazine.send(block(1), Bytes(20 << 20), out), 0U);
  EXPECT_EQ(magazine.send(block(2), Bytes(20 << 20), out), 2U);
  EXPECT_EQ(magazine.send(block(3), Bytes(20 << 20), out), 0U) << "the bytes are counted anew";
  EXPECT_EQ(magazine.send(block(4), Bytes(1 << 30), out), 2U);
}

TEST(Magazine, EmptyTakesEverythingOut) {
  Magazine magazine;
  for (std::size_t units = 1; units <= Magazine::kLargest; ++units) ASSERT_TRUE(magazine.put(units, block(units), Bytes(0)));
  Magazine::Blocks full{};
  ASSERT_EQ(magazine.send(block(99), Bytes(20 << 20), full), 0U);
  std::set<std::byte*> out;
  magazine.empty([&](std::byte* each) { out.insert(each); });
  EXPECT_EQ(out.size(), Magazine::kLargest + 1);
  magazine.empty([](std::byte*) { FAIL(); });
  EXPECT_EQ(magazine.send(block(99), Bytes(20 << 20), full), 0U) << "nothing is left of what was there";
}

TEST(Magazine, CountsWhatWasTakenAndItsRounding) {
  Magazine magazine;
  ASSERT_TRUE(magazine.put(1, block(1), Bytes(100)));
  EXPECT_EQ(magazine.counts().rounding, Bytes(-100));
  ASSERT_NE(magazine.take(1, Bytes(12)), nullptr);
  EXPECT_EQ(magazine.counts().rounding, Bytes(-88));
  EXPECT_EQ(magazine.counts().taken, 1U);
  magazine.reset_taken();
  EXPECT_EQ(magazine.counts().taken, 0U);
}

TEST(Magazine, AThreadFindsThoseThatItKeeps) {
  std::vector<std::uint64_t> heaps;
  for (std::size_t i = 0; i < 3 * kRecentMagazines; ++i) heaps.push_back(number_heap());
  std::vector<std::shared_ptr<Magazine>> magazines;
  for (const std::uint64_t heap : heaps) {
    EXPECT_EQ(find_magazine(heap), nullptr);
    magazines.push_back(std::make_shared<Magazine>());
    EXPECT_EQ(keep_magazine(heap, magazines.back()), magazines.back().get());
  }
  for (std::size_t i = 0; i < heaps.size(); ++i) EXPECT_EQ(find_magazine(heaps[i]), magazines[i].get());
  std::thread([&] { EXPECT_EQ(find_magazine(heaps.front()), nullptr) << "another thread's"; }).join();
}

TEST(Magazine, AThreadThatEndsLeavesItToAnother) {
  const auto magazine = std::make_shared<Magazine>();
  const std::uint64_t heap = number_heap();
  std::thread([&] {
    keep_magazine(heap, magazine);
    EXPECT_FALSE(magazine->adopt());
  }).join();
  EXPECT_TRUE(magazine->adopt());
  EXPECT_FALSE(magazine->adopt());
}

/// A thread-local of a thread that is destroyed after its magazines still frees.
TEST(Magazine, AThreadThatIsEndingGetsNone) {
  struct Late {
    std::shared_ptr<Magazine> magazine;
    ~Late() {
      if (magazine == nullptr) return;
      EXPECT_EQ(keep_magazine(number_heap(), magazine), nullptr);
      EXPECT_TRUE(magazine->adopt());
    }
  };
  std::thread([] {
    static thread_local Late late;
    late.magazine = std::make_shared<Magazine>();
    keep_magazine(number_heap(), std::make_shared<Magazine>());
  }).join();
}

}  // namespace
}  // namespace stowage::runtime
