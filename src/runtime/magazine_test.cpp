#include "runtime/magazine.hpp"

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

/// An address that is never dereferenced.
std::byte* block(std::size_t number) { return reinterpret_cast<std::byte*>(number * 512); }

/// A magazine and the list that it sends to.
struct Desk {
  LeftBatches left;
  Magazine magazine{left};

  ~Desk() {
    for (Batch* batch = left.take(); batch != nullptr;) recycle(std::exchange(batch, batch->next));
  }
  void put(std::size_t units, std::size_t number) { EXPECT_TRUE(magazine.put(units, block(number), Bytes(0))); }
  std::byte* take(std::size_t units) { return magazine.take(units, Bytes(0)); }
};

TEST(Magazine, ReturnsTheLastThatWasPut) {
  Desk desk;
  EXPECT_EQ(desk.take(1), nullptr);
  desk.put(1, 1);
  desk.put(1, 2);
  desk.put(2, 3);
  EXPECT_EQ(desk.take(1), block(2));
  EXPECT_EQ(desk.take(2), block(3));
  EXPECT_EQ(desk.take(2), nullptr);
  EXPECT_EQ(desk.take(1), block(1));
}

TEST(Magazine, KeepsLittleOfEachSize) {
  for (std::size_t units = 1; units <= Magazine::kLargest; ++units) {
    Desk desk;
    for (std::size_t i = 1; i <= 40; ++i) desk.put(units, i);
    std::size_t count = 0;
    while (desk.take(units) != nullptr) ++count;
    EXPECT_GE(count, 1U) << units;
    EXPECT_LE(count, 16U) << units;
    EXPECT_TRUE(count <= 2 || count * units <= 32) << units;
  }
}

TEST(Magazine, SendsTheOlderHalfOfAFullShelf) {
  Desk desk;
  for (std::size_t i = 1; i <= 17; ++i) desk.put(2, i);
  for (std::size_t i = 17; i > 8; --i) EXPECT_EQ(desk.take(2), block(i));
  EXPECT_EQ(desk.take(2), nullptr) << "blocks 1 to 8 are in the outbox";
  std::set<std::byte*> out;
  desk.magazine.empty([&](std::byte* each) { out.insert(each); });
  EXPECT_EQ(out.size(), 8U);
  EXPECT_TRUE(out.contains(block(1)));
  EXPECT_TRUE(out.contains(block(8)));
}

/// Sends blocks until a batch is full; returns how many that took.
std::size_t fill_a_batch(Desk& desk, Bytes size) {
  for (std::size_t i = 1;; ++i) {
    EXPECT_TRUE(desk.magazine.send(block(i), size, Bytes(0)));
    if (desk.left.is_empty()) continue;
    Batch* const full = desk.left.take();
    EXPECT_EQ(full->next, nullptr);
    EXPECT_EQ(full->count, i);
    for (std::size_t k = 0; k < i; ++k) EXPECT_EQ(full->blocks[k], block(k + 1));
    recycle(full);
    return i;
  }
}

TEST(Magazine, SendsManyBlocksAtATime) {
  Desk desk;
  EXPECT_GT(fill_a_batch(desk, Bytes(1 << 10)), 50U);
  EXPECT_EQ(fill_a_batch(desk, Bytes(20 << 20)), 4U);
  EXPECT_EQ(fill_a_batch(desk, Bytes(20 << 20)), 4U) << "the byte count starts again";
  EXPECT_EQ(fill_a_batch(desk, Bytes(1 << 30)), 1U);
}

/// Four batches are its own, the others are allocated.
TEST(Magazine, HasAlwaysOneMoreBatch) {
  Desk desk;
  for (std::size_t i = 1; i <= 10; ++i) EXPECT_TRUE(desk.magazine.send(block(i), Bytes(1 << 30), Bytes(0)));
  std::set<Batch*> batches;
  Batch* const first = desk.left.take();
  for (Batch* batch = first; batch != nullptr; batch = batch->next) batches.insert(batch);
  EXPECT_EQ(batches.size(), 10U);
  for (Batch* const batch : batches) recycle(batch);
}

TEST(Magazine, EmptyTakesEverythingOut) {
  Desk desk;
  for (std::size_t units = 1; units <= Magazine::kLargest; ++units) desk.put(units, units);
  ASSERT_TRUE(desk.magazine.send(block(99), Bytes(50 << 20), Bytes(0)));
  std::set<std::byte*> out;
  desk.magazine.empty([&](std::byte* each) { out.insert(each); });
  EXPECT_EQ(out.size(), Magazine::kLargest + 1);
  desk.magazine.empty([](std::byte*) { FAIL(); });
  ASSERT_TRUE(desk.magazine.send(block(99), Bytes(50 << 20), Bytes(0)));
  EXPECT_TRUE(desk.left.is_empty()) << "the byte count was reset";
}

TEST(Magazine, CountsWhatWasTakenAndItsRounding) {
  Desk desk;
  ASSERT_TRUE(desk.magazine.put(1, block(1), Bytes(100)));
  EXPECT_EQ(desk.magazine.counts().rounding, Bytes(-100));
  ASSERT_NE(desk.magazine.take(1, Bytes(12)), nullptr);
  EXPECT_EQ(desk.magazine.counts().rounding, Bytes(-88));
  ASSERT_TRUE(desk.magazine.send(block(1), Bytes(500), Bytes(12)));
  EXPECT_EQ(desk.magazine.counts().rounding, Bytes(-100));
  EXPECT_EQ(desk.magazine.counts().taken, 1U);
  desk.magazine.reset_taken();
  EXPECT_EQ(desk.magazine.counts().taken, 0U);
}

/// Whether a call of another thread waits while this one empties the magazine.
template <class Call>
bool waits_for_its_turn(Call call) {
  Desk desk;
  desk.put(1, 1);
  std::atomic<bool> done{false};
  std::thread other;
  bool waited = false;
  desk.magazine.empty([&](std::byte*) {
    other = std::thread([&] {
      call(desk.magazine);
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    waited = !done;
  });
  other.join();
  return waited;
}

TEST(Magazine, OneThreadAtATimeUsesIt) {
  EXPECT_TRUE(waits_for_its_turn([](Magazine& each) { (void)each.take(1, Bytes(0)); })) << "take";
  EXPECT_TRUE(waits_for_its_turn([](Magazine& each) { EXPECT_TRUE(each.put(1, block(2), Bytes(0))); })) << "put";
  EXPECT_TRUE(waits_for_its_turn([](Magazine& each) { EXPECT_TRUE(each.send(block(2), Bytes(1), Bytes(0))); }))
      << "send";
  EXPECT_TRUE(waits_for_its_turn([](Magazine& each) { each.empty([](std::byte*) {}); })) << "empty";
  EXPECT_TRUE(waits_for_its_turn([](Magazine& each) { (void)each.counts(); })) << "counts";
  EXPECT_TRUE(waits_for_its_turn([](Magazine& each) { each.reset_taken(); })) << "reset_taken";
}

LeftBatches nowhere;

TEST(Magazine, AThreadFindsThoseThatItKeeps) {
  std::vector<std::uint64_t> heaps;
  for (std::size_t i = 0; i < 3 * kRecentMagazines; ++i) heaps.push_back(number_heap());
  std::vector<std::shared_ptr<Magazine>> magazines;
  for (const std::uint64_t heap : heaps) {
    EXPECT_EQ(find_magazine(heap), nullptr);
    magazines.push_back(std::make_shared<Magazine>(nowhere));
    EXPECT_EQ(keep_magazine(heap, magazines.back()), magazines.back().get());
  }
  for (std::size_t i = 0; i < heaps.size(); ++i) EXPECT_EQ(find_magazine(heaps[i]), magazines[i].get());
  std::thread([&] { EXPECT_EQ(find_magazine(heaps.front()), nullptr) << "another thread's"; }).join();
}

TEST(Magazine, AThreadThatEndsLeavesItToAnother) {
  const auto magazine = std::make_shared<Magazine>(nowhere);
  const std::uint64_t heap = number_heap();
  std::thread([&] {
    keep_magazine(heap, magazine);
    EXPECT_FALSE(magazine->adopt());
  }).join();
  EXPECT_TRUE(magazine->adopt());
  EXPECT_FALSE(magazine->adopt());
}

/// A thread-local object that is destroyed after its thread's magazines still frees.
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
    late.magazine = std::make_shared<Magazine>(nowhere);
    keep_magazine(number_heap(), std::make_shared<Magazine>(nowhere));
  }).join();
}

}  // namespace
}  // namespace stowage::runtime
