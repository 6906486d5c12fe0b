#include <algorithm>
#include <array>
#include <deque>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/io.hpp"
#include "stowage/replay.hpp"
#include "stowage/runtime/plan_ahead.hpp"
#include "support/data.hpp"
#include "support/runtime/fallback.hpp"

/// Recorded workloads, with each pass over a trace as an iteration: how useful the plan of the first is for the others.
namespace stowage {
namespace {

using ::testing::IsEmpty;

/// A size other than the recorded one for every `every`-th allocation; 0: none.
struct Deviation {
  std::uint32_t every = 0;
  std::int64_t factor = 2;
};

class PlanAheadData : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    const std::string file = GetParam().string();
    trace_ = parse_trace(read_file(file).value(), file).value();
    addresses_.resize(trace_.allocations);
    sizes_.resize(trace_.allocations);
  }
  void TearDown() override {
    allocator_.reset();
    fallback_.reset();
    EXPECT_EQ(device_->live_objects(), 0U);
    EXPECT_THAT(device_->violations(), IsEmpty());
  }

  /// Every allocation is used by work on its stream, which is complete `kLag` events later.
  void submit(std::byte* address, StreamId stream) {
    const std::array<const std::byte*, 1> used = {address};
    ASSERT_TRUE(device_->launch(stream, used));
    submitted_.emplace_back(events_, stream);
  }
  void let_time_pass() {
    ++events_;
    while (!submitted_.empty() && submitted_.front().first + kLag <= events_) {
      device_->finish(submitted_.front().second);
      submitted_.pop_front();
    }
  }

  /// One pass; allocations that are still live are freed at the end.
  void pass(Deviation deviation = {}) {
    allocator_->begin_iteration();
    for (const Trace::Event& event : trace_.events) {
      let_time_pass();
      std::byte*& address = addresses_[event.allocation];
      Bytes& size = sizes_[event.allocation];
      if (event.action == Trace::Action::allocate) {
        const bool odd = deviation.every != 0 && event.allocation % deviation.every == deviation.every - 1;
        size = odd ? Bytes(event.size.value() * deviation.factor) : event.size;
        address = allocator_->allocate(size, event.stream).value();
        if (lagging_) submit(address, event.stream);
      } else {
        allocator_->free(address, size, event.stream);
        address = nullptr;
      }
    }
    for (const Trace::Event& event : trace_.events) {
      std::byte*& address = addresses_[event.allocation];
      if (address != nullptr) allocator_->free(address, sizes_[event.allocation], event.stream);
      address = nullptr;
    }
    allocator_->end_iteration();
  }

  [[nodiscard]] std::uint64_t memory_calls() const {
    return device_->calls(SimCall::allocate) + device_->calls(SimCall::reserve) + device_->calls(SimCall::create) +
           device_->calls(SimCall::map) + device_->calls(SimCall::unmap);
  }

  static constexpr std::uint64_t kLag = 256;

  Trace trace_;
  bool lagging_ = false;
  std::uint64_t events_ = 0;
  std::deque<std::pair<std::uint64_t, StreamId>> submitted_;
  std::vector<std::byte*> addresses_;
  std::vector<Bytes> sizes_;
  std::unique_ptr<SimDevice> device_ = SimDevice::make({.alignment = Bytes(512)});
  std::unique_ptr<runtime::TestFallback> fallback_ = std::make_unique<runtime::TestFallback>(*device_);
  std::unique_ptr<PlanAheadAllocator> allocator_ =
      PlanAheadAllocator::make(*device_, *fallback_, {.time_limit = {}, .node_budget = 1000}).value();
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PlanAheadData);  // without data
INSTANTIATE_TEST_SUITE_P(Traces, PlanAheadData, ::testing::ValuesIn(testing::trace_files()), [](const auto& file) {
  return file.param.filename().string().substr(0, file.param.filename().string().find('.'));
});

TEST_P(PlanAheadData, LaterPassesWasteAtMostOnePercentAndAskTheDeviceForNothing) {
  pass();
  const std::uint64_t calls = memory_calls();
  for (int i = 0; i < 2; ++i) {
    allocator_->reset_peaks();
    pass();
    const PlanAheadCounts counts = allocator_->counts();
    const AllocatorStats stats = allocator_->stats();
    EXPECT_EQ(counts.served, trace_.allocations);
    EXPECT_LE(stats.waste(), 0.01);
    EXPECT_EQ(memory_calls(), calls);
    std::cout << "  pass " << i + 2 << ": waste " << 100 * stats.waste() << " %, planned in " << counts.plan_seconds
              << " s to " << counts.plan_size.value() << " bytes (bound " << counts.plan_bound.value() << ")\n";
  }
}

TEST_P(PlanAheadData, StreamsThatLagWaitForEachOtherLessThanOnceInFiveHundredEvents) {
  lagging_ = true;
  pass();
  allocator_->reset_peaks();
  const std::uint64_t records = device_->calls(SimCall::record);
  pass();
  const AllocatorStats stats = allocator_->stats();
  EXPECT_EQ(allocator_->counts().served, trace_.allocations);
  EXPECT_LE(stats.waste(), 0.01);
  EXPECT_LE(stats.event_waits * 500, trace_.events.size());
  std::cout << "  waits " << stats.event_waits << ", events recorded " << device_->calls(SimCall::record) - records
            << "\n";
}

TEST_P(PlanAheadData, ReplayedOverOurStreamAllocatorTheSecondPassIsServedFromThePlan) {
  const std::unique_ptr<SimDevice> sim = SimDevice::make();
  const ReplayReport report = replay(trace_, "plan-ahead", *sim, {.passes = 2, .lag = kLag}).value();
  EXPECT_EQ(report.failures, 0U);
  EXPECT_EQ(report.peak_requested, peak_requested(trace_));
  EXPECT_EQ(report.creates + report.maps + report.unmaps, 0U);
  EXPECT_LE(report.waste(), 0.01);
  std::cout << "  waste " << 100 * report.waste() << " %, " << report.ns_per_event << " ns per event, waits "
            << report.event_waits << "\n";
  EXPECT_EQ(sim->live_objects(), 0U);
  EXPECT_THAT(sim->violations(), IsEmpty());
}

/// With one stream, an allocation without a slot is served from free bytes of the planned range.
TEST_P(PlanAheadData, OneAllocationInAHundredOfAnotherSizeLeavesMostToTheRange) {
  const bool one_stream = std::all_of(trace_.events.begin(), trace_.events.end(), [&](const Trace::Event& event) {
    return event.stream == trace_.events.front().stream;
  });
  pass();
  for (const std::int64_t factor : {2, 3}) {
    allocator_->reset_peaks();
    pass({.every = 100, .factor = factor});
    const PlanAheadCounts counts = allocator_->counts();
    EXPECT_GE((counts.served + counts.sheltered) * 100, std::uint64_t{trace_.allocations} * (one_stream ? 98 : 90));
    std::cout << "  served " << counts.served << ", deviated " << counts.deviated << ", blocked " << counts.blocked
              << ", sheltered " << counts.sheltered << "\n";
  }
  allocator_->reset_peaks();
  pass();
  EXPECT_EQ(allocator_->counts().served, trace_.allocations) << "the next regular pass is as if nothing had happened";
}

}  // namespace
}  // namespace stowage
