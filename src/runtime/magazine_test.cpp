#include "runtime/magazine.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

/// An address that nobody touches.
std::byte* block(std::size_t number) { return reinterpret_cast<std::byte*>(number * 512); }

/// Without any being full.
void put(Magazine& magazine, std::size_t units, std::size_t number) {
  const Magazine::Freed freed = magazine.put(units, block(number), Bytes(0));
  EXPECT_TRUE(freed.is_taken);
  EXPECT_EQ(freed.full, nullptr);
}

TEST(Magazine, ReturnsTheLastThatWasPut) {
  Magazine magazine;
  EXPECT_EQ(magazine.take(1, Bytes(0)), nullptr);
  put(magazine, 1, 1);
  put(magazine, 1, 2);
  put(magazine, 2, 3);
  EXPECT_EQ(magazine.take(1, Bytes(0)), block(2));
  EXPECT_EQ(magazine.take(2, Bytes(0)), block(3));
  EXPECT_EQ(magazine.take(2, Bytes(0)), nullptr);
  EXPECT_EQ(magazine.take(1, Bytes(0)), block(1));
}

TEST(Magazine, KeepsLittleOfEachSize) {
  for (std::size_t units = 1; units <= Magazine::kLargest; ++units) {
    Magazine magazine;
    for (std::size_t i = 1; i <= 40; ++i) put(magazine, units, i);
    std::size_t count = 0;
    while (magazine.take(units, Bytes(0)) != nullptr) ++count;
    EXPECT_GE(count, 1U) << units;
    EXPECT_LE(count, 16U) << units;
    EXPECT_TRUE(count <= 2 || count * units <= 32) << units;
  }
}

TEST(Magazine, SendsTheOlderHalfOfAFullShelf) {
  Magazine magazine;
  for (std::size_t i = 1; i <= 17; ++i) put(magazine, 2, i);
  for (std::size_t i = 17; i > 8; --i) EXPECT_EQ(magazine.take(2, Bytes(0)), block(i));
  EXPECT_EQ(magazine.take(2, Bytes(0)), nullptr) << "1 to 8 are in the outbox";
  std::set<std::byte*> out;
  magazine.empty([&](std::byte* each) { out.insert(each); });
  EXPECT_EQ(out.size(), 8U);
  EXPECT_TRUE(out.contains(block(1)));
  EXPECT_TRUE(out.contains(block(8)));
}

/// Sends blocks until a batch is full; says how many that took.
std::size_t fill_a_batch(Magazine& magazine, Bytes size) {
  for (std::size_t i = 1;; ++i) {
    const Magazine::Freed freed = magazine.send(block(i), size);
    EXPECT_TRUE(freed.is_taken);
    if (freed.full == nullptr) continue;
    EXPECT_EQ(freed.full->count, i);
    for (std::size_t k = 0; k < i; ++k) EXPECT_EQ(freed.full->blocks[k], block(k + 1));
    drop(freed.full);
    return i;
  }
}

TEST(Magazine, SendsManyBlocksAtATime) {
  Magazine magazine;
  EXPECT_GT(fill_a_batch(magazine, Bytes(1 << 10)), 50U);
  EXPECT_EQ(fill_a_batch(magazine, Bytes(20 << 20)), 4U);
  EXPECT_EQ(fill_a_batch(magazine, Bytes(20 << 20)), 4U) << "the bytes are counted anew";
  EXPECT_EQ(fill_a_batch(magazine, Bytes(1 << 30)), 1U);
}

TEST(Magazine, HasAlwaysOneMoreBatch) {
  std::vector<Batch*> full;
  {
    Magazine magazine;
    while (full.size() < 10) {
      if (Batch* const batch = magazine.send(block(1), Bytes(1 << 20)).full) full.push_back(batch);
    }
    EXPECT_EQ(std::set<Batch*>(full.begin(), full.end()).size(), 10U);
    for (Batch* const batch : full) drop(batch);
  }
}

TEST(Magazine, EmptyTakesEverythingOut) {
  Magazine magazine;
  for (std::size_t units = 1; units <= Magazine::kLargest; ++units) put(magazine, units, units);
  ASSERT_EQ(magazine.send(block(99), Bytes(50 << 20)).full, nullptr);
  std::set<std::byte*> out;
  magazine.empty([&](std::byte* each) { out.insert(each); });
  EXPECT_EQ(out.size(), Magazine::kLargest + 1);
  magazine.empty([](std::byte*) { FAIL(); });
  EXPECT_EQ(magazine.send(block(99), Bytes(50 << 20)).full, nullptr) << "nothing is left of what was there";
}

TEST(Magazine, CountsWhatWasTakenAndItsRounding) {
  Magazine magazine;
  ASSERT_TRUE(magazine.put(1, block(1), Bytes(100)).is_taken);
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
