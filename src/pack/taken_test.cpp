#include "pack/taken.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders/items.hpp"

namespace stowage::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using testing::aligned;
using testing::item;

TEST(Taken, SizesAreRoundedUpToTheSmallestAlignmentInSight) {
  // The first meets only the second, which meets all others; the last meets nothing.
  const Problem problem{.items = {aligned(item(0, 2, 5), 64), aligned(item(1, 4, 17), 16), aligned(item(3, 5, 9), 8),
                                  aligned(item(7, 8, 5), 32)}};
  const Plain taken = *with_taken_sizes(*Plain::from(problem));
  EXPECT_THAT(taken.size, ElementsAre(16, 24, 16, 32));
  EXPECT_THAT(taken.total, ElementsAre(40, 40, 32));
  EXPECT_EQ(taken.bound, 40);
}

TEST(Taken, NothingChangesWithoutAlignmentOrWithEvenSizes) {
  EXPECT_FALSE(with_taken_sizes(*Plain::from({.items = {item(0, 2, 5), aligned(item(1, 3, 7), 64)}})));
  EXPECT_FALSE(with_taken_sizes(*Plain::from({.items = {aligned(item(0, 2, 128), 64), item(1, 3, 8)}})));
  EXPECT_FALSE(with_taken_sizes(*Plain::from({.items = {}})));
}

TEST(Taken, HugeAlignmentsDoNotOverflow) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  const Problem problem{.items = {aligned(item(0, 2, 5), kHuge), aligned(item(1, 3, 7), kHuge)}};
  const std::optional<Plain> taken = with_taken_sizes(*Plain::from(problem));
  ASSERT_TRUE(taken);
  EXPECT_GT(taken->bound, 12);
  EXPECT_LE(taken->size[0], kHuge);
}

TEST(Taken, CoarseAlignmentsAreThoseThatWouldTakeMore) {
  const Problem problem{.items = {aligned(item(0, 1, 4), 16), aligned(item(0, 1, 32), 32), aligned(item(0, 1, 4), 4)}};
  EXPECT_THAT(coarse_alignments(*Plain::from(problem)), ElementsAre(16));
  EXPECT_THAT(coarse_alignments(*Plain::from({.items = {aligned(item(0, 1, 64), 16)}})), IsEmpty());
}

}  // namespace
}  // namespace stowage::pack
