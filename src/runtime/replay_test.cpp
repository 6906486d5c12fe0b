#include "stowage/runtime/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/memory/sim.hpp"
#include "stowage/runtime/registry.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;

Trace::Event allocation(std::uint32_t number, std::int64_t size, std::size_t stream = 0) {
  return {Trace::Action::allocate, number, Bytes(size), StreamId(stream)};
}

Trace::Event free_of(std::uint32_t number, std::int64_t size, std::size_t stream = 0) {
  return {Trace::Action::free, number, Bytes(size), StreamId(stream)};
}

/// Writes down what it is asked, and grants addresses in a row.
class Scribe final : public Allocator {
 public:
  [[nodiscard]] DeviceId device() const override { return DeviceId(1); }
  [[nodiscard]] Bytes alignment() const override { return Bytes(1); }
  Result<std::byte*> allocate(Bytes size, StreamId stream) override {
    if (size > largest) return Error{ErrorCode::out_of_memory, "too large", {}};
    lines.push_back("allocate " + std::to_string(size.value()) + " on " + std::to_string(stream.index()));
    return size == Bytes(0) ? nullptr : reinterpret_cast<std::byte*>(++next_);
  }
  void deallocate(std::byte* address, Bytes size, StreamId stream) override {
    lines.push_back("free " + std::to_string(reinterpret_cast<std::uintptr_t>(address)) + " of " + std::to_string(size.value()) +
                    " on " + std::to_string(stream.index()));
  }
  Status record_use(std::byte* address, StreamId stream) override {
    lines.push_back("use " + std::to_string(reinterpret_cast<std::uintptr_t>(address)) + " on " + std::to_string(stream.index()));
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
  EXPECT_THAT(scribe.lines, ElementsAre("allocate 100 on 0", "allocate 8 on 1", "free 1 of 100 on 0", "free 2 of 8 on 1"));
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
  EXPECT_THAT(scribe.lines, ElementsAre("allocate 8 on 1", "free 1 of 8 on 1", "reset", "allocate 8 on 1", "free 2 of 8 on 1"));
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
  EXPECT_EQ(report.peak_requested, Bytes(17)) << "of what was granted";
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

TEST(Replay, TheClockMovesWithEveryEvent) {
  const std::unique_ptr<SimDevice> memory = SimDevice::make();
  LaggedDevice clock(*memory, 3);
  const EventId event = clock.record(StreamId(0)).value();
  Scribe scribe;
  (void)replay({{allocation(0, 8), free_of(0, 8)}, 1}, scribe, {.clock = &clock});
  EXPECT_FALSE(clock.is_complete(event).value());
  (void)replay({{allocation(0, 8)}, 1}, scribe, {.clock = &clock});
  EXPECT_TRUE(clock.is_complete(event).value());
}

}  // namespace
}  // namespace stowage
