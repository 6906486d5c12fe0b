#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/plan_ahead.hpp"
#include "support/runtime/fallback.hpp"

/// The host runs out of memory for bookkeeping. A separate program, because it replaces operator new.

namespace {
/// This many calls succeed, then one fails. Negative: all succeed.
int calls_until_failure = -1;
}  // namespace

// Not inlined: the compiler would see that memory from `new` is passed to `free`, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (calls_until_failure >= 0 && calls_until_failure-- == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace stowage {
namespace {

constexpr StreamId kStream(1);

struct Block {
  std::byte* address;
  Bytes size;

  [[nodiscard]] bool overlaps(const Block& other) const {
    return address < other.address + other.size.value() && other.address < address + size.value();
  }
};

class PlanAheadHostMemory : public ::testing::Test {
 protected:
  PlanAheadHostMemory() {
    for (const Bytes size : recorded_) live_.push_back(*try_to_allocate(size));
    free_all();
    allocator_->end_iteration();
    allocator_->begin_iteration();
  }

  /// Nothing if the host had no memory.
  std::optional<Block> try_to_allocate(Bytes size) {
    try {
      return Block{allocator_->allocate(size, kStream).value(), size};
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  }

  void allocate(Bytes size) {
    if (const std::optional<Block> block = try_to_allocate(size)) {
      for (const Block& other : live_) EXPECT_FALSE(block->overlaps(other)) << "after failure " << failure_;
      live_.push_back(*block);
    }
  }

  void free_all() {
    for (const Block& block : live_) allocator_->free(block.address, block.size, kStream);
    live_.clear();
  }

  /// First as recorded, then with other sizes, with one failure on the way. Returns whether the failure happened.
  bool deviate(int failure) {
    failure_ = failure;
    const std::size_t half = recorded_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) allocate(recorded_[i]);
    calls_until_failure = failure;
    for (std::size_t i = 0; i < half; ++i) allocate(Bytes(256));
    for (std::size_t i = half; i < recorded_.size(); ++i) allocate(recorded_[i]);
    const bool failed = calls_until_failure < 0;
    calls_until_failure = -1;
    for (std::size_t i = 0; i < half; ++i) allocate(Bytes(512));
    return failed;
  }

  int failure_ = -1;
  std::vector<Bytes> recorded_ = std::vector<Bytes>(12, Bytes(4096));
  std::unique_ptr<SimDevice> device_ = SimDevice::make({.granularity = Bytes(1024)});
  std::unique_ptr<runtime::TestFallback> fallback_ = std::make_unique<runtime::TestFallback>(*device_);
  std::unique_ptr<PlanAheadAllocator> allocator_ = [this] {
    auto made = PlanAheadAllocator::make(*device_, *fallback_, {.time_limit = {}}).value();
    made->begin_iteration();
    return made;
  }();
  std::vector<Block> live_;
};

TEST_F(PlanAheadHostMemory, NoTwoBlocksShareBytesWhereverItRunsOut) {
  int failures = 0;
  while (deviate(failures)) {
    ++failures;
    free_all();
    EXPECT_EQ(allocator_->stats().live, 0U) << "after failure " << failures;
    EXPECT_TRUE(allocator_->forget_plan()) << "something is still live, after failure " << failures;
    // Make a new plan.
    allocator_->begin_iteration();
    for (const Bytes size : recorded_) allocate(size);
    free_all();
    allocator_->end_iteration();
    allocator_->begin_iteration();
  }
  free_all();
  EXPECT_GT(failures, 10) << "the test must reach enough allocations";
}

}  // namespace
}  // namespace stowage
