#include "runtime/plan_ahead/plan_cursor.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

using ::testing::ElementsAre;

constexpr int kNone = -1;

std::vector<PlannedSlot> slots_of(const std::vector<std::int64_t>& sizes) {
  std::vector<PlannedSlot> slots;
  for (const std::int64_t size : sizes) slots.push_back({.size = Bytes(size), .offset = Bytes(0)});
  return slots;
}

/// The slots of a sequence of allocations; `kNone` for those that get none.
std::vector<int> match(const std::vector<PlannedSlot>& slots, const std::vector<std::int64_t>& sizes,
                       const PlanCursor::Options& options = {.window = 8}) {
  PlanCursor cursor(0, static_cast<std::uint32_t>(slots.size()), options);
  std::vector<int> matched;
  for (const std::int64_t size : sizes) {
    const std::optional<std::uint32_t> slot = cursor.match(slots, Bytes(size));
    if (slot) {
      EXPECT_GE(*slot, cursor.next()) << "a cursor moves forward only";
      cursor.move_to(*slot + 1);
    }
    matched.push_back(slot ? static_cast<int>(*slot) : kNone);
  }
  return matched;
}

TEST(PlanCursor, TheSameSizesAreTheSameSlots) {
  EXPECT_THAT(match(slots_of({1, 2, 2, 3}), {1, 2, 2, 3}), ElementsAre(0, 1, 2, 3));
}

TEST(PlanCursor, MoreThanRecordedHaveNoSlot) {
  EXPECT_THAT(match(slots_of({5}), {5, 5, 7}), ElementsAre(0, kNone, kNone));
}

TEST(PlanCursor, ExtraAllocationsCostNothingElse) {
  EXPECT_THAT(match(slots_of({10, 20, 30}), {10, 99, 98, 97, 20, 30}), ElementsAre(0, kNone, kNone, kNone, 1, 2));
}

TEST(PlanCursor, AllocationsOfAnotherSizeCostNothingElse) {
  EXPECT_THAT(match(slots_of({10, 20, 30, 40}), {10, 99, 98, 40}), ElementsAre(0, kNone, kNone, 3));
}

TEST(PlanCursor, AfterAPartThatIsLeftOutTheThirdAllocationFindsTheSequence) {
  EXPECT_THAT(match(slots_of({10, 21, 32, 43, 54, 65, 76}), {10, 43, 54, 65, 76}), ElementsAre(0, kNone, kNone, 5, 6));
}

TEST(PlanCursor, NothingIsFoundBeyondTheWindow) {
  std::vector<std::int64_t> sizes = {10};
  for (int i = 0; i < 20; ++i) sizes.push_back(1000 + 100 * i);
  sizes.insert(sizes.end(), {1, 2, 3, 4});
  EXPECT_THAT(match(slots_of(sizes), {10, 1, 2, 3, 4}, {.window = 8}), ElementsAre(0, kNone, kNone, kNone, kNone));
  EXPECT_THAT(match(slots_of(sizes), {10, 1, 2, 3, 4}, {.window = 32}), ElementsAre(0, kNone, kNone, 23, 24));
}

TEST(PlanCursor, ASomewhatSmallerAllocationTakesTheSlotAndALargerOneDoesNot) {
  EXPECT_THAT(match(slots_of({100, 100, 100}), {75, 74, 101}), ElementsAre(0, kNone, kNone));
}

TEST(PlanCursor, AnySmallerAllocationTakesTheSlotWhereThatIsWanted) {
  const PlanCursor::Options any{.window = 8, .least_share = 0};
  EXPECT_THAT(match(slots_of({100, 5, 900, 70, 100}), {30, 5, 81, 21, 30}, any), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(match(slots_of({100, 5, 900}), {101, 5, 1}, any), ElementsAre(kNone, 1, 2));
}

TEST(PlanCursor, SlotsThatWereNeverPlannedAreLeftOutWhenTheyDoNotOccur) {
  std::vector<PlannedSlot> slots = slots_of({10, 500, 600, 20});
  slots[1].offset = slots[2].offset = kUnplanned;
  EXPECT_THAT(match(slots, {10, 20}), ElementsAre(0, 3));
  EXPECT_THAT(match(slots, {10, 500, 600, 20}), ElementsAre(0, 1, 2, 3));
}

TEST(PlanCursor, AnEmptyRecordMatchesNothing) {
  EXPECT_THAT(match({}, {1, 2, 3, 4}), ElementsAre(kNone, kNone, kNone, kNone));
}

}  // namespace
}  // namespace stowage::runtime
