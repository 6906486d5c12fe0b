#include "stowage/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "replay/interface/lagged_device.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;

Trace::Event allocation(std::uint32_t number, std::int64_t size, std::size_t stream = 0) {
  return {Trace::Action::allocate, number, Bytes(size), StreamId(stream)};
}

Trace::Event free_of(std::uint32_t number, std::int64_t size, std::size_t stream = 0) {
  return {Trace::Action::free, number, Bytes(size), StreamId(stream)};
}

/// Records the calls and grants consecutive addresses.
class Scribe final : public Allocator {
 public:
  [[nodiscard]] DeviceId device() const override { return DeviceId(1); }
  [[nodiscard]] Bytes alignment() const override { return Bytes(1); }
  Result<std::byte*> allocate(Bytes size, StreamId stream) override {
    if (size > largest) return Error{ErrorCode::out_of_memory, "too large", {}};
    lines.push_back("allocate " + std::to_string(size.value()) + " on " + std::to_string(stream.index()));
    return size == Bytes(0) ? nullptr : reinterpret_cast<std::byte*>(++next_);
  }
  void free(std::byte* address, Bytes size, StreamId stream) override {
    lines.push_back("free " + std::to_string(reinterpret_cast<std::uintptr_t>(address)) + " of " +
                    std::to_string(size.value()) + " on " + std::to_string(stream.index()));
  }
  Status record_use(std::byte* address, StreamId stream) override {
    lines.push_back("use " + std::to_string(reinterpret_cast<std::uintptr_t>(address)) + " on " +
                    std::to_string(stream.index()));
    return Done{};
  }
  Bytes trim() override { return Bytes(0); }
  [[nodiscard]] AllocatorStats stats() const override {
    AllocatorStats stats;
    stats.reserved_peak = Bytes(200);
    stats.maps = 7;
    return stats;
  }
  void reset_peaks() override { lines.emplace_back("reset"); }
  [[nodiscard]] MemorySnapshot snapshot() const override { return {}; }

  Bytes largest = kMaxBytes;
  std::vector<std::string> lines;

 private:
  std::uintptr_t next_ = 0;
};

TEST(Replay, AsksForWhatTheTraceAskedFor) {
  Scribe scribe;
  const Trace trace{{allocation(0, 100), allocation(1, 8, 1), free_of(0, 100), free_of(1, 8, 1)}, 2};
  const ReplayReport report = replay(trace, scribe, {});
  EXPECT_THAT(scribe.lines,
              ElementsAre("allocate 100 on 0", "allocate 8 on 1", "free 1 of 100 on 0", "free 2 of 8 on 1"));
  EXPECT_EQ(report.events, 4U);
  EXPECT_EQ(report.peak_requested, Bytes(108));
  EXPECT_EQ(report.peak_reserved, Bytes(200));
  EXPECT_DOUBLE_EQ(report.waste(), 0.46);
  EXPECT_EQ(report.maps, 7U);
  EXPECT_GT(report.ns_per_event, 0);
}

TEST(Replay, AFreeOnAnotherStreamIsAUseThere) {
  Scribe scribe;
  (void)replay({{allocation(0, 8, 1), free_of(0, 8, 2)}, 1}, scribe, {});
  EXPECT_THAT(scribe.lines, ElementsAre("allocate 8 on 1", "use 1 on 2", "free 1 of 8 on 1"));
}

TEST(Replay, WhatIsLeftIsFreedBetweenPassesAndAfterTheLast) {
  Scribe scribe;
  const ReplayReport report = replay({{allocation(0, 8, 1)}, 1}, scribe, {.passes = 2});
  EXPECT_THAT(scribe.lines,
              ElementsAre("allocate 8 on 1", "free 1 of 8 on 1", "reset", "allocate 8 on 1", "free 2 of 8 on 1"));
  EXPECT_EQ(report.events, 1U);
}

TEST(Replay, NothingIsFreedOfWhatIsRefused) {
  Scribe scribe;
  scribe.largest = Bytes(50);
  const Trace trace{{allocation(0, 100, 1), allocation(1, 8), free_of(0, 100, 2), allocation(2, 9), free_of(1, 8)}, 3};
  const ReplayReport report = replay(trace, scribe, {});
  EXPECT_THAT(scribe.lines, ElementsAre("allocate 8 on 0", "allocate 9 on 0", "free 1 of 8 on 0", "free 2 of 9 on 0"));
  EXPECT_EQ(report.failures, 1U);
  EXPECT_EQ(report.first_failure->message, "too large");
  EXPECT_EQ(report.peak_requested, Bytes(17)) << "of the allocations that were granted";
  EXPECT_EQ(peak_requested(trace), Bytes(108));
}

TEST(Replay, NullIsNotFreed) {
  Scribe scribe;
  (void)replay({{allocation(0, 0, 1), free_of(0, 0, 2)}, 1}, scribe, {});
  EXPECT_THAT(scribe.lines, ElementsAre("allocate 0 on 1"));
}

TEST(Replay, OfNothingIsNothing) {
  Scribe scribe;
  const ReplayReport report = replay({}, scribe, {});
  EXPECT_EQ(report.events, 0U);
  EXPECT_EQ(report.ns_per_event, 0);
}

/// Some allocations of up to a few MiB that come and go; the same trace each time.
Trace busy_trace(std::uint32_t count) {
  Trace trace;
  std::uint64_t state = 1;
  std::vector<Trace::Event> live;
  for (std::uint32_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t drawn = state >> 33;
    if (!live.empty() && (drawn % 16 < 7 || live.size() > 60)) {
      std::swap(live[drawn / 16 % live.size()], live.back());
      live.back().action = Trace::Action::free;
      trace.events.push_back(live.back());
      live.pop_back();
    } else {
      trace.events.push_back(allocation(static_cast<std::uint32_t>(trace.allocations++),
                                        1 + static_cast<std::int64_t>(drawn % (5U << 20))));
      live.push_back(trace.events.back());
    }
  }
  return trace;
}

template <class Field>
Bytes most_of(const std::vector<ReplaySample>& samples, Field field) {
  Bytes most;
  for (const ReplaySample& sample : samples) most = std::max(most, sample.*field);
  return most;
}

TEST(ReplaySamples, TheirPeaksAreTheReportsWithEveryAllocator) {
  const Trace trace = busy_trace(300);
  std::size_t refused = 0;
  for (const AllocatorInfo& info : allocators()) {
    for (const std::uint32_t passes : {1U, 2U}) {
      for (const std::optional<Bytes> memory : {std::optional<Bytes>(), std::optional(Bytes(48 << 20))}) {
        SCOPED_TRACE(std::string(info.name) + (memory ? ", little memory, " : ", ") + std::to_string(passes));
        const std::unique_ptr<SimDevice> device = SimDevice::make({.memory = memory});
        const auto allocator = make_allocator(info.name, *device, &trace);
        if (!allocator) continue;  // it plans ahead, and there is no room for the plan
        const ReplayReport report = replay(trace, **allocator, {.passes = passes, .samples = 40});
        refused += report.failures > 0 ? 1U : 0U;
        EXPECT_EQ(report.samples.size(), 40U);
        EXPECT_EQ(report.samples.front().event, 0U);
        EXPECT_EQ(report.samples.back().event, trace.events.size() - 1);
        EXPECT_EQ(most_of(report.samples, &ReplaySample::requested), report.peak_requested);
        EXPECT_EQ(most_of(report.samples, &ReplaySample::reserved), report.peak_reserved);
        for (std::size_t i = 1; i < report.samples.size(); ++i) {
          EXPECT_GE(report.samples[i].reserved, report.samples[i].requested);
          EXPECT_LE(report.samples[i].largest_idle, report.samples[i].reserved - report.samples[i].requested);
          EXPECT_GT(report.samples[i].event, report.samples[i - 1].event);
        }
      }
    }
  }
  EXPECT_GT(refused, allocators().size()) << "the small device must run out of memory";
}

TEST(ReplayBlocks, AreWhatWasGranted) {
  Scribe scribe;
  scribe.largest = Bytes(100);
  const Trace trace{{allocation(0, 100), allocation(1, 101), free_of(0, 100), allocation(2, 8, 1), free_of(1, 101)}, 3};
  const ReplayReport report = replay(trace, scribe, {.passes = 2, .blocks = 10});
  EXPECT_THAT(report.blocks.list, ElementsAre(ReplayBlock{0, 2, Bytes(0), Bytes(100), StreamId(0)},
                                              ReplayBlock{3, 5, Bytes(1), Bytes(8), StreamId(1)}));
  EXPECT_EQ(replay(trace, scribe, {}).blocks, ReplayBlocks{});
}

TEST(ReplayBlocks, OfOneStreamNeverOverlapWithAnyAllocator) {
  Trace trace;
  for (std::uint32_t i = 0; i < 400; ++i) {
    if (i >= 20) trace.events.push_back(free_of(i - 20, 512 * (1 + (i - 20) % 37)));
    trace.events.push_back(allocation(i, 512 * (1 + i % 37)));
  }
  trace.allocations = 400;
  for (const AllocatorInfo& info : allocators()) {
    SCOPED_TRACE(info.name);
    const std::unique_ptr<SimDevice> device = SimDevice::make({});
    const ReplayBlocks blocks = replay(trace, info.name, *device, {.blocks = 1000}).value().blocks;
    ASSERT_EQ(blocks.list.size(), 400U);
    for (std::size_t a = 0; a < blocks.list.size(); ++a) {
      const ReplayBlock& one = blocks.list[a];
      for (std::size_t b = a + 1; b < blocks.list.size() && blocks.list[b].first < one.end; ++b) {
        const ReplayBlock& other = blocks.list[b];
        EXPECT_TRUE(one.low + one.size <= other.low || other.low + other.size <= one.low) << a << " and " << b;
      }
    }
  }
}

TEST(ReplaySamples, OfAFewEventsAreAllOfThem) {
  Scribe scribe;
  const Trace trace{{allocation(0, 100), allocation(1, 8), free_of(0, 100), free_of(1, 8)}, 2};
  const ReplayReport report = replay(trace, scribe, {.samples = 4000});
  const Bytes reserved(0);  // as the scribe reports, except for the first rise of its peak
  EXPECT_THAT(
      report.samples,
      ElementsAre(ReplaySample{0, Bytes(100), Bytes(200), Bytes(0)}, ReplaySample{1, Bytes(108), reserved, Bytes(0)},
                  ReplaySample{2, Bytes(8), reserved, Bytes(0)}, ReplaySample{3, Bytes(0), reserved, Bytes(0)}));
  for (std::size_t count = 0; count < 3; ++count) {
    const Trace part{{trace.events.begin(), trace.events.begin() + static_cast<std::ptrdiff_t>(count)}, 2};
    EXPECT_EQ(replay(part, scribe, {.samples = 3}).samples.size(), count);
  }
  EXPECT_TRUE(replay(trace, scribe, {}).samples.empty());
}

TEST(ReplaySamples, AreTheFullestOfTheirParts) {
  Scribe scribe;
  // First, last, and between them two parts of two events each.
  const Trace trace{
      {allocation(0, 1), allocation(1, 2), free_of(1, 2), allocation(2, 4), allocation(3, 8), free_of(3, 8)}, 4};
  std::vector<std::uint64_t> events;
  for (const ReplaySample& sample : replay(trace, scribe, {.samples = 4}).samples) events.push_back(sample.event);
  EXPECT_THAT(events, ElementsAre(0U, 1U, 4U, 5U));
}

TEST(ReplaySamples, ChangeNothingOfTheReplay) {
  Scribe unsampled;
  Scribe sampled;
  const Trace trace = busy_trace(300);
  const ReplayReport without = replay(trace, unsampled, {.passes = 2});
  const ReplayReport with = replay(trace, sampled, {.passes = 2, .samples = 10});
  EXPECT_EQ(unsampled.lines, sampled.lines);
  EXPECT_EQ(without.peak_requested, with.peak_requested);
}

TEST(Replay, TheClockMovesWithEveryEvent) {
  const std::unique_ptr<SimDevice> memory = SimDevice::make();
  replaying::LaggedDevice clock(*memory, 3);
  const EventId event = clock.record(StreamId(0)).value();
  Scribe scribe;
  (void)replaying::replay_with_clock({{allocation(0, 8), free_of(0, 8)}, 1}, scribe, &clock, {});
  EXPECT_FALSE(clock.is_complete(event).value());
  (void)replaying::replay_with_clock({{allocation(0, 8)}, 1}, scribe, &clock, {});
  EXPECT_TRUE(clock.is_complete(event).value());
}

TEST(Replay, GivesUpAtARefusalAfterItsTime) {
  const std::unique_ptr<SimDevice> memory = SimDevice::make();
  const Trace served{{allocation(0, 8), free_of(0, 8)}, 1};
  EXPECT_TRUE(replay(served, "stream", *memory, {.give_up_after = std::chrono::nanoseconds(0)}));
  const Trace refused{{allocation(0, std::int64_t{1} << 45), free_of(0, std::int64_t{1} << 45)}, 1};
  EXPECT_EQ(replay(refused, "stream", *memory, {})->failures, 1U);
  const Result<ReplayReport> report =
      replay(refused, "stream", *memory, {.give_up_after = std::chrono::nanoseconds(0)});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(report.error().message, ::testing::StartsWith("gave up, because too much was refused; the first time: "));
}

TEST(Replay, ByNameIsTheSameAsWithThatAllocator) {
  const Trace trace = busy_trace(300);
  const std::unique_ptr<SimDevice> one = SimDevice::make();
  const std::unique_ptr<SimDevice> other = SimDevice::make();
  replaying::LaggedDevice lagged(*one, 16);
  const auto allocator = make_allocator("torch-native", lagged).value();
  const ReplayReport expected = replaying::replay_with_clock(trace, *allocator, &lagged, {.passes = 2});
  const ReplayReport report = replay(trace, "torch-native", *other, {.passes = 2, .lag = 16}).value();
  EXPECT_EQ(report.peak_reserved, expected.peak_reserved);
  EXPECT_EQ(report.creates, expected.creates);
  EXPECT_EQ(replay(trace, "none", *other, {}).error().code, ErrorCode::unknown_name);
}

}  // namespace
}  // namespace stowage
