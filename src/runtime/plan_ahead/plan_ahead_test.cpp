#include "stowage/runtime/plan_ahead.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "support/runtime/fallback.hpp"

namespace stowage {
namespace {

using runtime::TestFallback;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr StreamId kStream(0);
constexpr Bytes k1KiB{1024};
constexpr Bytes k2KiB{2048};
constexpr Bytes k4KiB{4096};

struct Block {
  std::byte* address = nullptr;
  Bytes size;
  StreamId stream;
};

class PlanAheadTest : public ::testing::Test {
 protected:
  explicit PlanAheadTest(SimOptions sim = {.granularity = k1KiB}) : device_(SimDevice::make(std::move(sim))) {
    fallback_ = std::make_unique<TestFallback>(*device_);
    make();
  }
  ~PlanAheadTest() override {
    allocator_.reset();
    EXPECT_EQ(fallback_->live(), 0U);
    fallback_.reset();
    EXPECT_EQ(device_->live_objects(), 0U);
    EXPECT_THAT(device_->violations(), IsEmpty());
  }

  void make(PlanAheadOptions options = {}) {
    allocator_.reset();
    options.time_limit = {};
    allocator_ = PlanAheadAllocator::make(*device_, *fallback_, std::move(options)).value();
  }
  Block allocate(Bytes size, StreamId stream = kStream) {
    return {allocator_->allocate(size, stream).value(), size, stream};
  }
  void free(Block block) { allocator_->free(block.address, block.size, block.stream); }
  /// Allocates two blocks, frees the first, allocates a third in its place, and frees the rest: 5 KiB at most.
  std::vector<Block> iterate() {
    allocator_->begin_iteration();
    const Block a = allocate(k4KiB);
    const Block b = allocate(k1KiB);
    free(a);
    const Block c = allocate(k2KiB);
    free(b);
    free(c);
    allocator_->end_iteration();
    return {a, b, c};
  }
  [[nodiscard]] PlanAheadCounts counts() const { return allocator_->counts(); }

  std::unique_ptr<SimDevice> device_;
  std::unique_ptr<TestFallback> fallback_;
  std::unique_ptr<PlanAheadAllocator> allocator_;
};

TEST_F(PlanAheadTest, TheSecondIterationComesFromARangeOfThePeakWithoutACallToTheDevice) {
  iterate();
  EXPECT_EQ(counts().plans, 1U);
  EXPECT_EQ(counts().plan_size, k4KiB + k1KiB);
  EXPECT_EQ(counts().plan_bound, k4KiB + k1KiB);
  EXPECT_EQ(device_->in_use(), k4KiB + k1KiB) << "the fallback's memory of the first iteration is released";

  const std::uint64_t calls = device_->calls();
  const std::vector<Block> second = iterate();
  EXPECT_EQ(device_->calls(), calls);
  EXPECT_EQ(counts().served, 3U);
  EXPECT_EQ(second[2].address, second[0].address) << "the third block lies where the first was";
  EXPECT_EQ(iterate()[0].address, second[0].address);
}

TEST_F(PlanAheadTest, WasteIsThatOfTheRange) {
  iterate();
  allocator_->reset_peaks();
  iterate();
  const AllocatorStats stats = allocator_->stats();
  EXPECT_EQ(stats.requested_peak, k4KiB + k1KiB);
  EXPECT_EQ(stats.reserved_peak, k4KiB + k1KiB);
  EXPECT_EQ(stats.waste(), 0);
  EXPECT_EQ(stats.allocations, 3U);
  EXPECT_EQ(stats.live, 0U);
  EXPECT_EQ(stats.creates + stats.maps + stats.unmaps + stats.releases, 0U);
}

TEST_F(PlanAheadTest, PeaksAndCallsOfTheFirstIterationAreKept) {
  iterate();
  const AllocatorStats stats = allocator_->stats();
  EXPECT_EQ(stats.reserved_peak, k4KiB + k2KiB + k1KiB) << "of the fallback, which keeps freed memory";
  EXPECT_EQ(stats.reserved, k4KiB + k1KiB);
  EXPECT_EQ(stats.creates, 3U + 1U);
  EXPECT_EQ(stats.maps, 1U);
}

TEST_F(PlanAheadTest, OutsideOfIterationsEverythingComesFromTheFallback) {
  const Block before = allocate(k4KiB);
  iterate();
  const Block after = allocate(k4KiB);
  EXPECT_EQ(fallback_->live(), 2U);
  EXPECT_EQ(counts().served, 0U);
  free(before);
  free(after);
}

TEST_F(PlanAheadTest, WhatOutlivesTheIterationIsNotPlannedAndKeepsItsPlaceInTheSequence) {
  std::vector<Block> kept;
  const auto iteration = [&] {
    allocator_->begin_iteration();
    const Block a = allocate(k1KiB);
    kept.push_back(allocate(k4KiB));
    const Block b = allocate(k1KiB);
    free(a);
    free(b);
    allocator_->end_iteration();
  };
  iteration();
  EXPECT_EQ(counts().plan_size, k2KiB);
  iteration();
  iteration();
  EXPECT_EQ(counts().served, 4U);
  EXPECT_EQ(counts().unplanned, 2U);
  for (const Block block : kept) free(block);
}

TEST_F(PlanAheadTest, WhatWasAllocatedOnceForAllIsNotMissed) {
  allocator_->begin_iteration();
  const Block weights = allocate(k4KiB);
  free(allocate(k1KiB));
  allocator_->end_iteration();

  allocator_->begin_iteration();
  free(allocate(k1KiB));
  allocator_->end_iteration();
  EXPECT_EQ(counts().served, 1U);
  EXPECT_EQ(counts().deviated, 0U);
  free(weights);
}

TEST_F(PlanAheadTest, AnExtraAllocationCostsOnlyItself) {
  iterate();
  allocator_->begin_iteration();
  const Block a = allocate(k4KiB);
  const Block extra = allocate(Bytes(300));
  const Block b = allocate(k1KiB);
  free(a);
  const Block c = allocate(k2KiB);
  EXPECT_EQ(counts().served, 3U);
  EXPECT_EQ(counts().deviated, 1U);
  EXPECT_EQ(fallback_->live(), 1U);
  for (const Block block : {extra, b, c}) free(block);
}

/// Each layer keeps a block and works with another one; the blocks are freed in turn.
class PlanAheadLayersTest : public PlanAheadTest {
 protected:
  void iterate_layers(std::int64_t scale, bool with_work) {
    allocator_->begin_iteration();
    std::vector<Block> kept;
    for (int layer = 0; layer < 400; ++layer) {
      kept.push_back(allocate(Bytes(1024 * scale)));
      if (with_work) free(allocate(Bytes(4096 * scale)));
      if (with_work && layer % 2 == 0) free(allocate(k2KiB));
    }
    while (!kept.empty()) {
      free(allocate(Bytes(2048 * scale)));
      free(kept.back());
      kept.pop_back();
    }
    allocator_->end_iteration();
  }
};

TEST_F(PlanAheadLayersTest, WhatHasLostItsSlotsLiesInFreeBytesOfTheRange) {
  make({.least_share = 0});
  iterate_layers(8, true);
  const Bytes reserved = allocator_->stats().reserved;
  const std::uint64_t calls = device_->calls();
  for (const std::int64_t scale : {1, 8, 3, 2, 8}) {
    iterate_layers(scale, scale != 1 && scale != 3);
    EXPECT_EQ(allocator_->stats().reserved, reserved);
  }
  EXPECT_EQ(device_->calls(), calls) << "nothing comes from the fallback";
  EXPECT_GT(counts().deviated + counts().blocked, 0U);
  EXPECT_EQ(counts().sheltered, counts().deviated + counts().blocked);
}

TEST_F(PlanAheadLayersTest, AGuestIsPartOfTheSnapshotAndMayBeUsedByOtherStreams) {
  make({.least_share = 0});
  iterate_layers(8, true);
  allocator_->begin_iteration();
  const Block guest = allocate(Bytes(9 * 1024));  // larger than any recorded allocation
  ASSERT_EQ(counts().sheltered, 1U);
  const MemorySnapshot snapshot = allocator_->snapshot();
  const auto& blocks = snapshot.segments.back().blocks;
  EXPECT_EQ(std::count_if(blocks.begin(), blocks.end(),
                          [&](const MemorySnapshot::Block& block) { return block.address == guest.address; }),
            1);
  EXPECT_TRUE(allocator_->record_use(guest.address, StreamId(1)));
  EXPECT_FALSE(allocator_->forget_plan()) << "it is live";
  free(guest);
  allocator_->end_iteration();
  EXPECT_TRUE(allocator_->forget_plan());
}

TEST_F(PlanAheadTest, ALargerAllocationCostsOnlyItself) {
  iterate();
  allocator_->begin_iteration();
  const Block a = allocate(Bytes(8192));
  const Block b = allocate(k1KiB);
  free(a);
  const Block c = allocate(k2KiB);
  EXPECT_EQ(counts().served, 2U);
  EXPECT_EQ(counts().deviated, 1U);
  free(b);
  free(c);
}

TEST_F(PlanAheadTest, ASomewhatSmallerAllocationTakesThePlace) {
  iterate();
  allocator_->begin_iteration();
  free(allocate(Bytes(3100)));
  EXPECT_EQ(counts().served, 1U);
}

TEST_F(PlanAheadTest, APlaceThatIsHeldLongerThanRecordedIsLeftOut) {
  const std::vector<Block> first = iterate();
  allocator_->begin_iteration();
  const Block a = allocate(k4KiB);
  const Block b = allocate(k1KiB);
  const Block c = allocate(k2KiB);  // its slot overlaps a
  EXPECT_EQ(counts().served, 2U);
  EXPECT_EQ(counts().blocked, 1U);
  EXPECT_EQ(fallback_->live(), 1U);
  for (const Block block : {b, c}) free(block);
  allocator_->end_iteration();

  allocator_->begin_iteration();
  const Block again = allocate(k4KiB);
  EXPECT_NE(again.address, a.address) << "still live, from the iteration before";
  free(again);
  free(a);
  const Block d = allocate(k1KiB);
  const Block e = allocate(k2KiB);
  EXPECT_EQ(e.address, a.address) << "free at last";
  free(d);
  free(e);
}

TEST_F(PlanAheadTest, AnotherStreamIsADeviation) {
  iterate();
  allocator_->begin_iteration();
  const Block block = allocate(k4KiB, StreamId(5));
  EXPECT_EQ(counts().deviated, 1U);
  free(block);
}

TEST_F(PlanAheadTest, ZeroAndNegativeSizesAreTheFallbacksMatter) {
  iterate();
  allocator_->begin_iteration();
  EXPECT_EQ(allocator_->allocate(Bytes(0), kStream).value(), nullptr);
  allocator_->free(nullptr, Bytes(0), kStream);
  EXPECT_FALSE(allocator_->allocate(Bytes(-1), kStream));
  free(allocate(k4KiB));
  EXPECT_EQ(counts().served, 1U);
}

TEST_F(PlanAheadTest, BeginningAnIterationEndsTheOneBefore) {
  for (int i = 0; i < 3; ++i) {
    allocator_->begin_iteration();
    free(allocate(k4KiB));
  }
  EXPECT_EQ(counts().plans, 1U);
  EXPECT_EQ(counts().served, 2U);
}

TEST_F(PlanAheadTest, AnEmptyIterationIsNoPlanAndTheNextOneIsRecorded) {
  allocator_->begin_iteration();
  allocator_->end_iteration();
  allocator_->end_iteration();
  EXPECT_EQ(counts().plans, 0U);
  iterate();
  EXPECT_EQ(counts().plans, 1U);
}

TEST_F(PlanAheadTest, AForgottenPlanReturnsItsRangeAndTheNextIterationIsRecorded) {
  iterate();
  allocator_->begin_iteration();
  const Block a = allocate(k4KiB);
  const Status refused = allocator_->forget_plan();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  free(a);
  ASSERT_TRUE(allocator_->forget_plan());
  EXPECT_EQ(device_->in_use(), Bytes(0));
  EXPECT_EQ(allocator_->stats().reserved, Bytes(0));
  iterate();
  EXPECT_EQ(counts().plans, 2U);
}

TEST_F(PlanAheadTest, TheSnapshotShowsTheRangeWithoutGaps) {
  iterate();
  allocator_->begin_iteration();
  const Block a = allocate(k4KiB);
  const Block b = allocate(Bytes(1000));
  free(a);
  const MemorySnapshot snapshot = allocator_->snapshot();
  ASSERT_EQ(snapshot.segments.size(), 1U);
  const MemorySnapshot::Segment& segment = snapshot.segments[0];
  EXPECT_EQ(segment.size, k4KiB + k1KiB);
  ASSERT_EQ(segment.blocks.size(), 2U);
  Bytes sum(0);
  for (const MemorySnapshot::Block& block : segment.blocks) {
    EXPECT_EQ(block.address, segment.address + sum.value());
    sum += block.size;
    const bool live = block.address == b.address;
    EXPECT_EQ(block.state, live ? MemorySnapshot::BlockState::live : MemorySnapshot::BlockState::idle);
    EXPECT_EQ(block.requested, live ? Bytes(1000) : Bytes(0));
  }
  EXPECT_EQ(sum, segment.size);
  free(b);
}

TEST_F(PlanAheadTest, APoolOfTheCallersIsUsedAndGetsEverythingBack) {
  PhysicalPool pool(*device_->virtual_memory());
  make({.pool = &pool});
  iterate();
  EXPECT_EQ(pool.counts().created, k4KiB + k1KiB);
  iterate();
  make();
  EXPECT_EQ(pool.counts().created, Bytes(0));
}

TEST_F(PlanAheadTest, AnotherDevicesFallbackOrPoolIsRejected) {
  const auto other = SimDevice::make({.id = DeviceId(9)});
  const auto refused = PlanAheadAllocator::make(*other, *fallback_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("device 9"));
  PhysicalPool pool(*other->virtual_memory());
  EXPECT_FALSE(PlanAheadAllocator::make(*device_, *fallback_, {.pool = &pool}));
}

// ------------------------------------------------------------------------------------------------------------ streams

TEST_F(PlanAheadTest, StreamsWhosePeaksDoNotCoincideShareTheRangeAndTheSecondWaits) {
  make({.handover_distance = 0});
  const StreamId one(1);
  const StreamId two(2);
  const auto iteration = [&] {
    allocator_->begin_iteration();
    const Block a = allocate(k4KiB, one);
    const std::array<const std::byte*, 1> used = {a.address};
    ASSERT_TRUE(device_->launch(one, used));
    free(a);
    const Block b = allocate(k4KiB, two);
    const std::array<const std::byte*, 1> also_used = {b.address};
    ASSERT_TRUE(device_->launch(two, also_used));
    free(b);
    allocator_->end_iteration();
  };
  iteration();
  device_->finish_all();
  EXPECT_EQ(counts().plan_size, k4KiB);
  iteration();
  EXPECT_EQ(counts().served, 2U);
  EXPECT_EQ(allocator_->stats().event_waits, 1U);
  iteration();
  EXPECT_EQ(allocator_->stats().event_waits, 3U) << "the first waits for the second's last iteration, too";
  device_->finish_all();
  iteration();
  EXPECT_EQ(allocator_->stats().event_waits, 4U) << "complete work needs no waiting";
}

TEST_F(PlanAheadTest, AnotherStreamGetsWhatWasFreedLongerAgoWhereThatCostsNothing) {
  const StreamId one(1);
  const StreamId two(2);
  for (const bool first_freed_first : {true, false}) {
    make({.handover_distance = 2});
    for (int i = 0; i < 2; ++i) {
      allocator_->begin_iteration();
      const Block a = allocate(k4KiB, one);
      const Block b = allocate(k4KiB, one);
      free(first_freed_first ? a : b);
      free(first_freed_first ? b : a);
      const Block c = allocate(k4KiB, two);
      if (i == 1) {
        EXPECT_EQ(c.address, first_freed_first ? a.address : b.address);
      }
      free(c);
      allocator_->end_iteration();
    }
    EXPECT_EQ(counts().served, 3U);
    EXPECT_EQ(counts().plan_size, k4KiB + k4KiB);
  }
}

TEST_F(PlanAheadTest, BytesThatAnotherStreamUsesAreWaitedFor) {
  iterate();
  const StreamId other(3);
  allocator_->begin_iteration();
  const Block a = allocate(k4KiB);
  ASSERT_TRUE(allocator_->record_use(a.address, other));
  const std::array<const std::byte*, 1> used = {a.address};
  ASSERT_TRUE(device_->launch(other, used));
  const Block b = allocate(k1KiB);
  free(a);
  const std::uint64_t waits = device_->calls(SimCall::wait);
  const Block c = allocate(k2KiB);
  EXPECT_EQ(c.address, a.address);
  EXPECT_EQ(device_->calls(SimCall::wait), waits + 1);
  free(b);
  free(c);
  EXPECT_FALSE(allocator_->record_use(a.address, other)) << "no longer an allocation";
}

/// Without virtual memory the range is a buffer, whose base need not be aligned.
class PlanAheadBufferTest : public PlanAheadTest {
 protected:
  PlanAheadBufferTest() : PlanAheadTest({.alignment = Bytes(256), .skew = Bytes(40), .virtual_memory = false}) {}
};

TEST_F(PlanAheadBufferTest, ABufferServesAsTheRange) {
  iterate();
  EXPECT_EQ(counts().plans, 1U);
  const std::uint64_t calls = device_->calls();
  for (const Block block : iterate()) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.address) % 256, 0U);
  EXPECT_EQ(counts().served, 3U);
  EXPECT_EQ(device_->calls(), calls);
}

}  // namespace
}  // namespace stowage
