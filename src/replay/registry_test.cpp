#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "replay/interface/lagged_device.hpp"
#include "stowage/replay.hpp"

namespace stowage {
namespace {

/// The same trace with all events on stream 0.
Trace on_one_stream(Trace trace) {
  for (Trace::Event& event : trace.events) event.stream = StreamId(0);
  return trace;
}

/// Small, large and odd sizes on two streams, freed in another order and on other streams; some are never freed.
Trace mixed_trace() {
  Trace trace;
  const auto size_of = [](std::uint32_t i) {
    return Bytes(1 + (std::int64_t{i} * 7919 * 131) % (i % 3 == 0 ? 30'000'000 : 70'000));
  };
  for (std::uint32_t i = 0; i < 200; ++i) {
    trace.events.push_back({Trace::Action::allocate, i, size_of(i), StreamId(i % 2)});
    if (i < 20 || i % 5 == 0) continue;
    const std::uint32_t gone = i - 20 + i % 3 == 0 ? i : i - 20;
    if (gone % 5 == 0 && gone >= 20) continue;
    trace.events.push_back({Trace::Action::free, gone, size_of(gone), StreamId(i % 7 == 0 ? 1 - gone % 2 : gone % 2)});
  }
  trace.allocations = 200;
  return trace;
}

class EveryAllocator : public ::testing::TestWithParam<AllocatorInfo> {};

TEST_P(EveryAllocator, ServesAMixedTraceAndGivesEverythingBack) {
  const std::unique_ptr<SimDevice> sim = SimDevice::make();
  const Trace trace = GetParam().any_stream ? mixed_trace() : on_one_stream(mixed_trace());
  {
    replaying::LaggedDevice device(*sim, 16);
    const std::unique_ptr<Allocator> allocator = make_allocator(GetParam().name, device, &trace).value();
    const ReplayReport report = replaying::replay_with_clock(trace, *allocator, &device, {.passes = 2});
    EXPECT_EQ(report.failures, 0U);
    EXPECT_EQ(report.peak_requested, peak_requested(trace));
    EXPECT_GE(report.peak_reserved, report.peak_requested);
    EXPECT_EQ(allocator->stats().live, 0U);
    EXPECT_EQ(allocator->stats().requested, Bytes(0));
  }
  EXPECT_EQ(sim->in_use(), Bytes(0));
  EXPECT_EQ(sim->live_objects(), 0U);
  EXPECT_TRUE(sim->violations().empty()) << sim->violations().front();
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAllocator, ::testing::ValuesIn(allocators().begin(), allocators().end()),
                         [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Registry, NamesAreUniqueAndExplained) {
  std::set<std::string_view> names;
  for (const AllocatorInfo& info : allocators()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.summary.empty());
  }
}

TEST(Registry, AnUnknownNameIsAnErrorThatListsThem) {
  const std::unique_ptr<SimDevice> sim = SimDevice::make();
  const auto made = make_allocator("none", *sim);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unknown_name);
  EXPECT_NE(made.error().message.find(allocators().front().name), std::string::npos);
}

}  // namespace
}  // namespace stowage
