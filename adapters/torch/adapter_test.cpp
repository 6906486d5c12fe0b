#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "support/library.hpp"

namespace stowage::torch {
namespace {

using ::testing::HasSubstr;

TEST_F(TorchTest, ZeroBytesAreNullAndAskNobody) {
  EXPECT_EQ(lib_.alloc(0, 0, nullptr), nullptr);
  EXPECT_EQ(lib_.alloc_or_null(0, 0, nullptr), nullptr);
  lib_.free(nullptr, 0, 0, nullptr);
  lib_.record_stream(nullptr, nullptr);
  EXPECT_EQ(driver_.calls(), 0U);
  EXPECT_EQ(lib_.stats(), "null");
}

TEST_F(TorchTest, AHitMakesNoCallToTheDriver) {
  const TorchStream side = stream(3);
  const auto pair = [&](std::size_t size, TorchStream on) { lib_.free(lib_.alloc(size, 0, on), size, 0, on); };
  void* const block = lib_.alloc(8 * kMiB, 0, nullptr);
  pair(8 * kMiB, side);
  lib_.free(block, 8 * kMiB, 0, nullptr);
  const std::uint64_t before = driver_.calls();
  for (std::size_t i = 0; i < 100; ++i) {
    pair(1 + i * 50'000, nullptr);
    pair(1 + i * 70'000, side);
  }
  EXPECT_EQ(driver_.calls(), before);
}

TEST_F(TorchTest, WhatIsFreedOnAStreamServesItAgain) {
  void* const block = lib_.alloc(3 * kMiB, 0, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 512, 0U);
  lib_.free(block, 3 * kMiB, 0, nullptr);
  EXPECT_EQ(lib_.alloc(3 * kMiB, 0, nullptr), block);
}

TEST_F(TorchTest, MemoryIsNotUsedAgainWhileARecordedStreamUsesIt) {
  configure(0);
  void* const block = lib_.alloc(4 * kMiB, 0, nullptr);
  lib_.record_stream(block, stream(3));
  driver_.set_complete(false);
  lib_.free(block, 4 * kMiB, 0, nullptr);
  void* const other = lib_.alloc(4 * kMiB, 0, nullptr);
  EXPECT_NE(other, block);
  driver_.set_complete(true);
  lib_.free(other, 4 * kMiB, 0, nullptr);
  void* const both = lib_.alloc(8 * kMiB, 0, nullptr);  // falls short, and searches again
  EXPECT_EQ(lib_.figure("reserved_bytes"), static_cast<std::int64_t>(8 * kMiB));
  lib_.free(both, 8 * kMiB, 0, nullptr);
}

TEST_F(TorchTest, RecordedMemoryOfSomebodyElseIsIgnored) {
  lib_.free(lib_.alloc(kMiB, 0, nullptr), kMiB, 0, nullptr);
  int somebody_elses = 0;
  lib_.record_stream(&somebody_elses, stream(3));
  EXPECT_EQ(lib_.figure("live"), 0);
}

TEST_F(TorchTest, DevicesAreServedApart) {
  void* const first = lib_.alloc(4 * kMiB, 0, nullptr);
  void* const second = lib_.alloc(6 * kMiB, 1, stream(2, 1));
  EXPECT_EQ(lib_.figure("requested_bytes", 0), static_cast<std::int64_t>(4 * kMiB));
  EXPECT_EQ(lib_.figure("requested_bytes", 1), static_cast<std::int64_t>(6 * kMiB));
  lib_.record_stream(second, stream(3, 1));
  lib_.free(first, 4 * kMiB, 0, nullptr);
  lib_.free(second, 6 * kMiB, 1, stream(2, 1));
  EXPECT_EQ(lib_.figure("live", 0), 0);
}

TEST_F(TorchTest, EmptyCacheReturnsWhatIsIdle) {
  lib_.free(lib_.alloc(64 * kMiB, 0, nullptr), 64 * kMiB, 0, nullptr);
  EXPECT_EQ(lib_.figure("reserved_bytes"), static_cast<std::int64_t>(64 * kMiB));
  lib_.empty_cache();
  EXPECT_EQ(lib_.figure("reserved_bytes"), 0);
  EXPECT_EQ(lib_.figure("reserved_peak_bytes"), static_cast<std::int64_t>(64 * kMiB));
  EXPECT_EQ(lib_.reset_peaks(), 0);
  EXPECT_EQ(lib_.figure("reserved_peak_bytes"), 0);
}

/// As autograd's threads do.
TEST_F(TorchTest, ThreadsFreeWhatOthersAllocated) {
  constexpr std::size_t kBlocks = 2000;
  std::vector<std::atomic<void*>> blocks(kBlocks);
  const auto size = [](std::size_t i) { return 512 + i % 97 * 40'000; };
  const TorchStream streams[] = {nullptr, stream(3)};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < kBlocks; i += 2) blocks[i] = lib_.alloc(size(i), 0, streams[t]);
    });
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < kBlocks; i += 2) {
        while (blocks[i] == nullptr) std::this_thread::yield();
        lib_.free(blocks[i], size(i), 0, streams[t]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lib_.figure("live"), 0);
  EXPECT_EQ(lib_.figure("requested_bytes"), 0);
}

/// Torch frees tensors after the driver is gone; none of our objects is destroyed.
TEST_F(TorchTest, AtTheEndOfTheProcessMemoryMayStillBeFreed) {
  static Library* library = nullptr;
  static void* block = nullptr;
  const testing::ChildResult child = testing::run_in_child([&] {
    library = &lib_;
    block = lib_.alloc(kMiB, 0, nullptr);
    void* const used = lib_.alloc(kMiB, 0, nullptr);
    lib_.record_stream(used, stream(3));
    std::atexit([] { library->free(block, kMiB, 0, nullptr); });
    driver_.deinitialize();
    lib_.free(used, kMiB, 0, nullptr);
    lib_.empty_cache();
    std::string violations;
    for (const std::string& line : driver_.violations()) violations += line;
    return violations;
  });
  EXPECT_FALSE(child.died) << child.text;
  EXPECT_EQ(child.text, "");
}

TEST_F(TorchTest, AnIterationThatRepeatsItselfIsServedFromAPlan) {
  configure(0, 1);
  const auto iteration = [&] {
    EXPECT_EQ(lib_.begin_iteration(), 0);
    void* const first = lib_.alloc(3 * kMiB, 0, nullptr);
    void* const second = lib_.alloc(5 * kMiB, 0, nullptr);
    std::thread([&] { lib_.free(first, 3 * kMiB, 0, nullptr); }).join();
    lib_.free(second, 5 * kMiB, 0, nullptr);
    EXPECT_EQ(lib_.end_iteration(), 0);
  };
  lib_.free(lib_.alloc(kMiB, 0, nullptr), kMiB, 0, nullptr);
  iteration();
  EXPECT_EQ(lib_.figure("plans"), 1);
  iteration();
  EXPECT_EQ(lib_.figure("served"), 2);
  EXPECT_EQ(lib_.figure("plan_bytes"), static_cast<std::int64_t>(8 * kMiB));
}

TEST_F(TorchTest, AnIterationWithoutPlanAheadIsRefused) {
  lib_.free(lib_.alloc(kMiB, 0, nullptr), kMiB, 0, nullptr);
  EXPECT_EQ(lib_.begin_iteration(), 1);
  EXPECT_THAT(lib_.last_error(), HasSubstr("plan_ahead"));
}

}  // namespace
}  // namespace stowage::torch
