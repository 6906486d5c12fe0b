#include "pack/exact/valley_state.hpp"

#include <random>

#include <gtest/gtest.h>

#include "support/builders/items.hpp"

namespace stowage::pack {
namespace {

using testing::item;

/// Items that are all live together in the middle.
ValleyProblem crowded(std::int64_t count) {
  Problem problem;
  for (std::int64_t i = 0; i < count; ++i) problem.items.push_back(item(i, 2 * count - i, 1 + i % 7));
  const Plain plain = *Plain::from(problem);
  return {plain, *ItemLists::meeting(plain, 1'000'000)};
}

/// Everything that a search can see.
struct Seen {
  std::vector<std::int64_t> limits, floors, remaining;
  std::vector<std::uint32_t> at_floor, unplaced;
  std::vector<bool> reasons, goes_on;

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen look_at(const ValleyState<2>& state, const Plain& plain) {
  Seen seen;
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    seen.limits.push_back(state.placed(i) ? -1 : state.limit(i));
    for (std::uint32_t s = 0; s < plain.sections(); ++s)
      seen.reasons.push_back(!state.placed(i) && state.reason(i).contains(s));
  }
  for (std::uint32_t s = 0; s < plain.sections(); ++s) {
    seen.floors.push_back(state.floor(s));
    seen.remaining.push_back(state.remaining(s));
    seen.at_floor.push_back(state.at_floor(s));
    seen.unplaced.push_back(static_cast<std::uint32_t>(state.unplaced(s).size()));
    seen.goes_on.push_back(state.goes_on(s));
  }
  return seen;
}

/// Places or lifts at random, three levels deep, and undoes it level by level.
TEST(ValleyState, UndoRestoresEverything) {
  const ValleyProblem problem = crowded(20);
  std::mt19937_64 random(1);
  for (const Explanations explanations : {Explanations::full, Explanations::brief}) {
    ValleyState<2> state(problem);
    state.reset(explanations);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::pair<ValleyState<2>::Mark, Seen>> levels;
      for (int level = 0; level < 3; ++level) {
        levels.emplace_back(state.mark(), look_at(state, problem.plain));
        const auto i = static_cast<std::uint32_t>(random() % problem.plain.count());
        if (state.placed(i)) continue;
        SectionSet<2> reason = state.range(i);
        random() % 2 == 0 ? state.place(i, state.limit(i)) : state.set_limit(i, state.limit(i) + 3, reason);
        state.settle([](std::uint32_t) {});
      }
      for (; !levels.empty(); levels.pop_back()) {
        state.undo(levels.back().first);
        ASSERT_EQ(look_at(state, problem.plain), levels.back().second) << round;
      }
    }
  }
}

/// Each item placed raises all others: 16 bytes each, and once per item and section. With whole explanations, it would
/// be several times that.
TEST(ValleyState, APathOfManyItemsThatMeetTakesLittleMemory) {
  const ValleyProblem problem = crowded(120);
  for (const Explanations explanations : {Explanations::full, Explanations::brief}) {
    ValleyState<4> state(problem);
    state.reset(explanations);
    for (std::uint32_t i = 0; i < 120; ++i) {
      (void)state.mark();
      state.place(i, state.limit(i));
      state.settle([](std::uint32_t) {});
    }
    EXPECT_EQ(state.left(), 0U);
    EXPECT_LE(state.trail_bytes(), 120U * 120U / 2U * 16U + 120U * 241U * 16U);
  }
}

}  // namespace
}  // namespace stowage::pack
