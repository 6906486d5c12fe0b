#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/greedy/indexed_skyline.hpp"
#include "pack/greedy/priority.hpp"
#include "stowage/pack.hpp"
#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"

namespace stowage::pack {
namespace {

using ::testing::ElementsAre;

using testing::item;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

TEST(Skyline, FillsTheLowestValleyWithWhatIsMostUrgent) {
  // Sections: {a, b} with 12 bytes and {b, c} with 10. The fullest comes first, and in it the item with the larger
  // area.
  const Plain plain = *Plain::from({.items = {item(0, 2, 4), item(0, 4, 8), item(2, 4, 2)}});
  IndexedSkyline skyline(plain);
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(skyline.run(priorities(plain, Priority::area), kNoLimit, offsets), 12);
  EXPECT_THAT(offsets, ElementsAre(8, 0, 8));
}

TEST(Skyline, AValleyThatNothingFitsIsRaised) {
  // The short item comes first and leaves a valley next to it that is too narrow for the long one.
  const Plain plain = *Plain::from({.items = {item(0, 2, 4), item(0, 4, 8), item(2, 4, 1)}});
  IndexedSkyline skyline(plain);
  const std::vector<double> short_first = {3, 1, 2};
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(skyline.run(short_first, kNoLimit, offsets), 12);
  EXPECT_THAT(offsets, ElementsAre(0, 4, 0));
}

TEST(Skyline, StopsAtTheLimit) {
  const Plain plain = *Plain::from({.items = {item(0, 2, 4), item(0, 2, 8)}});
  IndexedSkyline skyline(plain);
  std::vector<std::int64_t> offsets;
  EXPECT_GT(skyline.run(priorities(plain, Priority::size), 11, offsets), 11);
  EXPECT_EQ(skyline.run(priorities(plain, Priority::size), 12, offsets), 12);
}

TEST(Skyline, AnswersAreValidForEveryPriority) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const Problem problem = testing::random_problem(seed, testing::plain_options(30));
    const Plain plain = *Plain::from(problem);
    IndexedSkyline skyline(plain);
    std::vector<std::int64_t> offsets;
    for (const Priority priority : kPriorities) {
      const std::int64_t peak = skyline.run(priorities(plain, priority), kNoLimit, offsets);
      const std::vector<Position> positions = plain.positions(problem, offsets);
      ASSERT_FALSE(validate(problem, positions)) << seed;
      ASSERT_EQ(Bytes(peak), peak_of(problem, positions)) << seed;
    }
  }
}

}  // namespace
}  // namespace stowage::pack
