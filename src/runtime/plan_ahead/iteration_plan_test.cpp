#include "runtime/plan_ahead/iteration_plan.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RecordedAllocation allocation(std::int64_t size, std::int64_t from, std::int64_t to, std::size_t stream = 0) {
  return {Bytes(size), StreamId(stream), {Step(from), to < 0 ? kNever : Step(to)}};
}

constexpr std::int64_t kKept = -1;

IterationPlan plan_of(const std::vector<RecordedAllocation>& recorded, std::int64_t distance = 0) {
  return plan_iteration(recorded, {.alignment = Bytes(64), .node_budget = 1000, .handover_distance = Step(distance)})
      .value();
}

TEST(IterationPlan, ThePeakIsThatOfWhatIsLiveAtOnce) {
  const IterationPlan plan = plan_of({allocation(256, 0, 2), allocation(64, 1, 5), allocation(128, 3, 4)});
  EXPECT_EQ(plan.size, Bytes(320));
  EXPECT_EQ(plan.bound, Bytes(320));
  EXPECT_THAT(plan.predecessors_of(0), IsEmpty());
  EXPECT_THAT(plan.predecessors_of(2), ElementsAre(0U));
  EXPECT_TRUE(plan.slots[0].first_user);
  EXPECT_FALSE(plan.slots[2].first_user);
}

TEST(IterationPlan, WhatOutlivesTheIterationHasASlotWithoutAPlace) {
  const IterationPlan plan = plan_of({allocation(256, 0, kKept), allocation(64, 1, 2)});
  EXPECT_EQ(plan.size, Bytes(64));
  EXPECT_FALSE(plan.slots[0].planned());
  EXPECT_TRUE(plan.slots[1].planned());
}

TEST(IterationPlan, SlotsAreGroupedByStreamInTheOrderOfAllocation) {
  const IterationPlan plan = plan_of({allocation(64, 0, 4, 9), allocation(128, 1, 5, 3), allocation(192, 2, 6, 9)});
  EXPECT_THAT(plan.streams, ElementsAre(StreamId(3), StreamId(9)));
  EXPECT_THAT(plan.first_slot, ElementsAre(0U, 1U, 3U));
  EXPECT_EQ(plan.slots[0].size, Bytes(128));
  EXPECT_EQ(plan.slots[1].size, Bytes(64));
  EXPECT_EQ(plan.slots[2].size, Bytes(192));
}

TEST(IterationPlan, OneEventServesAllBytesThatGoToAnotherStreamAtATime) {
  // Stream 0 frees four blocks; stream 1 then takes all of their bytes.
  const IterationPlan plan = plan_of({allocation(64, 0, 4), allocation(64, 1, 5), allocation(64, 2, 6),
                                      allocation(64, 3, 7), allocation(256, 8, 9, 1)});
  ASSERT_EQ(plan.size, Bytes(256));
  std::vector<std::size_t> marking;
  for (std::size_t slot = 0; slot < plan.slots.size(); ++slot) {
    if (plan.slots[slot].marks) marking.push_back(slot);
  }
  EXPECT_THAT(marking, ElementsAre(3U)) << "at the last free";
}

TEST(IterationPlan, ADistanceThatWouldCostMemoryIsNotKept) {
  EXPECT_EQ(plan_of({allocation(256, 0, 1), allocation(256, 2, 3, 1)}, 100).size, Bytes(256));
}

/// Finds the last user of each byte, byte by byte.
std::set<std::uint32_t> predecessors_by_hand(const IterationPlan& plan, const std::vector<std::uint32_t>& in_time,
                                             std::size_t at) {
  std::set<std::uint32_t> found;
  const ByteRange bytes = plan.slots[in_time[at]].bytes();
  for (Bytes byte = bytes.lower; byte < bytes.upper; byte += Bytes(64)) {
    for (std::size_t before = at; before-- > 0;) {
      const PlannedSlot& slot = plan.slots[in_time[before]];
      if (!slot.planned() || !slot.bytes().contains(byte)) continue;
      found.insert(in_time[before]);
      break;
    }
  }
  return found;
}

TEST(IterationPlan, PredecessorsAreWhoeverHadAByteLast) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<RecordedAllocation> recorded;
    for (std::int64_t i = 0; i < 40; ++i) {
      const auto size = static_cast<std::int64_t>(64 * (1 + random() % 8));
      const auto length = static_cast<std::int64_t>(1 + random() % 12);
      recorded.push_back(allocation(size, 100 * i, random() % 9 == 0 ? kKept : 100 * (i + length) + i, random() % 3));
    }
    const IterationPlan plan = plan_of(recorded, 250);
    std::vector<std::uint32_t> next = plan.first_slot;
    std::vector<std::uint32_t> in_time;  // slots in the order of allocation
    for (const RecordedAllocation& one : recorded) {
      const auto stream = std::find(plan.streams.begin(), plan.streams.end(), one.stream) - plan.streams.begin();
      in_time.push_back(next[static_cast<std::size_t>(stream)]++);
    }
    for (std::size_t at = 0; at < in_time.size(); ++at) {
      const auto found = plan.predecessors_of(in_time[at]);
      if (!plan.slots[in_time[at]].planned()) {
        EXPECT_THAT(found, IsEmpty());
        continue;
      }
      EXPECT_EQ(std::set<std::uint32_t>(found.begin(), found.end()), predecessors_by_hand(plan, in_time, at))
          << "seed " << seed;
      for (const std::uint32_t before : found) {
        const auto index =
            static_cast<std::size_t>(std::find(in_time.begin(), in_time.end(), before) - in_time.begin());
        EXPECT_LE(recorded[index].life.upper, recorded[at].life.lower) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace stowage::runtime
