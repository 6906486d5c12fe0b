#include <array>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/plan_ahead.hpp"
#include "support/runtime/fallback.hpp"

/// The device fails whatever planning ahead asks of it: the program continues with the fallback, and nothing leaks.
namespace stowage {
namespace {

using ::testing::IsEmpty;

constexpr StreamId kOne(1);
constexpr StreamId kTwo(2);

class PlanAheadFaults : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    device_ = SimDevice::make({.virtual_memory = GetParam(), .granularity = Bytes(1024)});
    fallback_ = std::make_unique<runtime::TestFallback>(*device_);
    allocator_ = PlanAheadAllocator::make(*device_, *fallback_, {.time_limit = {}, .handover_distance = 0}).value();
  }
  void TearDown() override {
    allocator_.reset();
    fallback_.reset();
    EXPECT_EQ(device_->live_objects(), 0U);
    EXPECT_THAT(device_->violations(), IsEmpty());
  }

  std::byte* allocate(Bytes size, StreamId stream) {
    const Result<std::byte*> address = allocator_->allocate(size, stream);
    EXPECT_TRUE(address) << "a failure of the plan must not reach the program";
    if (!address) return nullptr;
    const std::array<const std::byte*, 1> used = {*address};
    EXPECT_TRUE(device_->launch(stream, used));
    return *address;
  }

  /// Bytes pass from one stream to another and back.
  void iterate() {
    allocator_->begin_iteration();
    for (const StreamId stream : {kOne, kTwo, kOne}) {
      std::byte* const a = allocate(Bytes(4096), stream);
      std::byte* const b = allocate(Bytes(1024), stream);
      allocator_->free(a, Bytes(4096), stream);
      allocator_->free(b, Bytes(1024), stream);
    }
    allocator_->end_iteration();
  }

  std::unique_ptr<SimDevice> device_;
  std::unique_ptr<runtime::TestFallback> fallback_;
  std::unique_ptr<PlanAheadAllocator> allocator_;
};

INSTANTIATE_TEST_SUITE_P(Memory, PlanAheadFaults, ::testing::Bool(),
                         [](const auto& memory) { return memory.param ? "pages" : "buffer"; });

TEST_P(PlanAheadFaults, WithoutMemoryForThePlanTheFallbackGoesOnAndALaterIterationIsPlanned) {
  const std::array calls = GetParam() ? std::array{SimCall::reserve, SimCall::create, SimCall::map}
                                      : std::array{SimCall::allocate, SimCall::allocate, SimCall::allocate};
  for (const SimCall call : calls) {
    SetUp();
    allocator_->begin_iteration();
    std::byte* const a = allocate(Bytes(4096), kOne);
    allocator_->free(a, Bytes(4096), kOne);
    device_->finish_all();
    device_->fail(call, 1);
    allocator_->end_iteration();
    EXPECT_EQ(allocator_->counts().plans, 0U);
    EXPECT_EQ(allocator_->counts().refusals, 1U);
    EXPECT_EQ(device_->in_use(), Bytes(0));
    EXPECT_EQ(allocator_->stats().reserved, Bytes(0));

    iterate();
    EXPECT_EQ(allocator_->counts().refusals, 1U) << "it does not try again at once";
    iterate();
    EXPECT_EQ(allocator_->counts().plans, 1U);
    iterate();
    EXPECT_EQ(allocator_->counts().served, 6U);
    TearDown();
  }
  SetUp();
}

TEST_P(PlanAheadFaults, WhicheverCallOfARunFailsNoAllocationDoesAndNothingIsLeft) {
  std::uint64_t nth = 1;
  for (bool failed = true; failed; ++nth) {
    TearDown();
    SetUp();
    // The fallback's own first iteration is not what is tested here.
    iterate();
    ASSERT_EQ(allocator_->counts().plans, 1U);
    const std::uint64_t before = device_->calls();
    device_->fail_any(nth);
    for (int i = 0; i < 2; ++i) {
      allocator_->begin_iteration();
      for (const StreamId stream : {kOne, kTwo, kOne}) {
        const Result<std::byte*> a = allocator_->allocate(Bytes(4096), stream);
        if (!a) continue;  // the failure hit the fallback, which was used because a wait failed
        allocator_->free(*a, Bytes(4096), stream);
      }
      allocator_->end_iteration();
    }
    failed = device_->calls() - before >= nth;
    device_->fail_any(0);
    EXPECT_EQ(allocator_->stats().requested, Bytes(0));
    iterate();
  }
  EXPECT_GT(nth, 4U) << "streams were ordered, so that something could fail";
}

TEST_P(PlanAheadFaults, AStreamThatCannotBeOrderedIsServedByTheFallback) {
  iterate();
  device_->finish_all();
  for (const SimCall call : {SimCall::record, SimCall::wait}) {
    allocator_->reset_peaks();
    allocator_->begin_iteration();
    std::byte* const a = allocate(Bytes(4096), kOne);
    if (call == SimCall::record) device_->fail(call, 1, 2);  // at the free, and again when the event is needed
    allocator_->free(a, Bytes(4096), kOne);
    if (call == SimCall::wait) device_->fail(call, 1);
    std::byte* const b = allocate(Bytes(4096), kTwo);
    EXPECT_NE(a, b);
    EXPECT_GE(allocator_->counts().blocked, 1U);
    device_->fail(call, 0);
    allocator_->free(b, Bytes(4096), kTwo);
    allocator_->end_iteration();
    device_->finish_all();
  }
}

TEST_P(PlanAheadFaults, AForeignUseThatCannotBeFollowedIsWaitedForOrBlocksItsBytesForEver) {
  const auto once = [this] {
    allocator_->begin_iteration();
    std::byte* const a = allocate(Bytes(4096), kOne);
    EXPECT_TRUE(allocator_->record_use(a, kTwo));
    const std::array<const std::byte*, 1> used = {a};
    EXPECT_TRUE(device_->launch(kTwo, used));
    return a;
  };
  allocator_->free(once(), Bytes(4096), kOne);
  allocator_->end_iteration();
  device_->finish_all();

  std::byte* const waited = once();
  device_->fail(SimCall::record, 1);
  allocator_->free(waited, Bytes(4096), kOne);
  std::byte* const again = once();
  EXPECT_EQ(again, waited) << "the host has waited for the other stream";

  device_->fail(SimCall::record, 1);
  device_->fail(SimCall::synchronize, 1);
  allocator_->free(again, Bytes(4096), kOne);
  std::byte* const other = once();
  EXPECT_NE(other, again);
  allocator_->free(other, Bytes(4096), kOne);
  EXPECT_EQ(allocator_->stats().live, 0U);
  EXPECT_FALSE(allocator_->forget_plan()) << "nobody can say whether the bytes are in use";
  device_->finish_all();
}

TEST_P(PlanAheadFaults, AFailedWaitKeepsThePlan) {
  iterate();
  device_->fail(SimCall::synchronize, 1);
  const Status refused = allocator_->forget_plan();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::device);
  iterate();
  EXPECT_EQ(allocator_->counts().served, 6U);
  EXPECT_TRUE(allocator_->forget_plan());
}

}  // namespace
}  // namespace stowage
