#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/library.hpp"

/// CUDA graphs, as torch captures them: begin_pool, the capture, end_pool; release_pool when the graph is destroyed.
namespace stowage::torch {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr TorchPoolId kGraph{0, 7};
constexpr TorchPoolId kOther{0, 8};

class CaptureTest : public TorchTest {
 protected:
  void begin(TorchPoolId pool = kGraph) {
    lib_.begin_pool(0, pool, [on = captured_](TorchStream each) { return each == on; });
    driver_.set_capturing(true);
  }
  void end(TorchPoolId pool = kGraph) {
    driver_.set_capturing(false);
    lib_.end_pool(0, pool);
  }
  void release(TorchPoolId pool = kGraph) { lib_.release_pool(0, pool); }
  void* get(std::size_t size, TorchStream on) { return lib_.alloc(size, 0, on); }
  void put(void* block, std::size_t size, TorchStream on) { lib_.free(block, size, 0, on); }
  [[nodiscard]] std::int64_t reserved() const { return lib_.figure("reserved_bytes"); }

  const TorchStream captured_ = stream(3);
};

TEST_F(CaptureTest, WhatACaptureFreedServesItAgainAndNobodyElse) {
  begin();
  void* const block = get(8 * kMiB, captured_);
  put(block, 8 * kMiB, captured_);
  EXPECT_EQ(get(8 * kMiB, captured_), block);
  put(block, 8 * kMiB, captured_);
  void* const outside = get(8 * kMiB, nullptr);  // on another stream, which is not captured
  EXPECT_NE(outside, block);
  end();
  void* const after = get(8 * kMiB, captured_);
  EXPECT_NE(after, block);
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(24 * kMiB));
  release();
}

TEST_F(CaptureTest, NothingIsAskedOfTheDriverButMemory) {
  configure(static_cast<std::int64_t>(64 * kMiB));
  void* const used = get(8 * kMiB, nullptr);
  lib_.record_stream(used, stream(5));
  put(get(16 * kMiB, stream(4)), 16 * kMiB, stream(4));
  begin();
  const std::uint64_t before = forbidden_calls();
  put(used, 8 * kMiB, nullptr);
  void* const outside = get(16 * kMiB, nullptr);
  void* const inside = get(8 * kMiB, captured_);
  lib_.record_stream(inside, stream(6));
  put(inside, 8 * kMiB, captured_);
  EXPECT_NE(get(8 * kMiB, captured_), inside);  // the graph also contains that other stream's work
  lib_.empty_cache();
  EXPECT_ANY_THROW(get(32 * kMiB, nullptr));
  EXPECT_ANY_THROW(get(32 * kMiB, captured_));
  EXPECT_GT(reserved(), 0);
  EXPECT_EQ(forbidden_calls(), before);
  end();
  put(outside, 16 * kMiB, nullptr);
  EXPECT_NE(get(32 * kMiB, nullptr), nullptr);  // now streams can be waited for
  release();
}

TEST_F(CaptureTest, AGraphKeepsItsMemoryUntilItIsReleased) {
  begin();
  put(get(8 * kMiB, captured_), 8 * kMiB, captured_);
  end();
  lib_.empty_cache();
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(8 * kMiB));
  release();
  lib_.empty_cache();
  EXPECT_EQ(reserved(), 0);
  EXPECT_EQ(lib_.figure("count"), 0);
}

TEST_F(CaptureTest, WhoeverIsShortOfMemoryGetsNothingOfAGraphs) {
  configure(static_cast<std::int64_t>(16 * kMiB));
  begin();
  put(get(8 * kMiB, captured_), 8 * kMiB, captured_);
  end();
  EXPECT_ANY_THROW(get(16 * kMiB, nullptr));
  release();
  EXPECT_NE(get(16 * kMiB, nullptr), nullptr);
}

TEST_F(CaptureTest, ATensorOutlivesItsGraph) {
  begin();
  void* const result = get(8 * kMiB, captured_);
  put(get(4 * kMiB, captured_), 4 * kMiB, captured_);
  end();
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(12 * kMiB));
  release();
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(8 * kMiB));
  put(result, 8 * kMiB, captured_);
  lib_.empty_cache();
  EXPECT_EQ(reserved(), 0);
}

TEST_F(CaptureTest, GraphsOfOnePoolShareItsMemory) {
  begin();
  void* const block = get(8 * kMiB, captured_);
  put(block, 8 * kMiB, captured_);
  end();
  begin();
  EXPECT_EQ(get(8 * kMiB, captured_), block);
  put(block, 8 * kMiB, captured_);
  end();
  release();
  lib_.empty_cache();
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(8 * kMiB));
  release();
  lib_.empty_cache();
  EXPECT_EQ(reserved(), 0);
}

/// During a capture, streams cannot be waited for.
TEST_F(CaptureTest, AGraphThatGoesDuringAnothersCaptureLeavesItsMemoryForLater) {
  configure(static_cast<std::int64_t>(16 * kMiB));
  begin();
  put(get(8 * kMiB, captured_), 8 * kMiB, captured_);
  end();
  begin(kOther);
  const std::uint64_t before = forbidden_calls();
  release();
  EXPECT_EQ(forbidden_calls(), before);
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(8 * kMiB));
  end(kOther);
  EXPECT_NE(get(16 * kMiB, nullptr), nullptr);
  release(kOther);
}

TEST_F(CaptureTest, PoolsAreApart) {
  begin();
  void* const block = get(8 * kMiB, captured_);
  put(block, 8 * kMiB, captured_);
  end();
  begin(kOther);
  EXPECT_NE(get(8 * kMiB, captured_), block);
  end(kOther);
  EXPECT_EQ(lib_.figure("count"), 2);
  release();
  release(kOther);
}

/// Threads that are always short of memory wait for streams and unmap pages, but not while another thread captures.
TEST_F(CaptureTest, OtherThreadsGoOnWithoutAskingTheDriver) {
  configure(static_cast<std::int64_t>(48 * kMiB));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([this, &stop, on = stream(4 + i)] {
      for (std::size_t round = 0; !stop; ++round) {
        const std::size_t size = (6 + round % 9) * kMiB;
        void* const block = lib_.alloc_or_null(size, 0, on);
        if (block != nullptr) lib_.record_stream(block, captured_);
        lib_.free(block, size, 0, on);
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    lib_.begin_pool(0, kGraph, [on = captured_](TorchStream each) { return each == on; });
    const std::uint64_t before = forbidden_calls();
    try {
      put(get(kMiB, captured_), kMiB, captured_);
    } catch (const std::runtime_error&) {  // the other threads have all the memory
    }
    std::this_thread::yield();
    EXPECT_EQ(forbidden_calls(), before);
    end();
    release();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lib_.figure("live"), 0);
}

/// Under torch's own allocator, captures are not announced.
TEST_F(CaptureTest, BelowTorchsAllocatorTheDriverIsAskedForCaptures) {
  configure(static_cast<std::int64_t>(32 * kMiB));
  const auto take = [&](std::size_t size, TorchStream on) { return lib_.alloc_or_null(size, 0, on); };
  lib_.free(take(20 * kMiB, nullptr), 20 * kMiB, 0, nullptr);
  driver_.set_capturing(true);
  const std::uint64_t before = forbidden_calls();
  void* const segment = take(4 * kMiB, captured_);
  EXPECT_NE(segment, nullptr);
  EXPECT_EQ(take(20 * kMiB, captured_), nullptr);
  EXPECT_EQ(forbidden_calls(), before);
  driver_.set_capturing(false);
  EXPECT_NE(take(20 * kMiB, captured_), nullptr);
}

TEST_F(CaptureTest, PlanAheadRefusesGraphs) {
  configure(0, 1);
  EXPECT_THAT([&] { lib_.begin_pool(0, kGraph, [](TorchStream) { return true; }); },
              ThrowsMessage<std::runtime_error>(HasSubstr("plan_ahead")));
}

}  // namespace
}  // namespace stowage::torch
