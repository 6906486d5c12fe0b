#include "runtime/plan_ahead/guests.hpp"

#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

constexpr ByteRange bytes(std::int64_t lower, std::int64_t upper) { return {Bytes(lower), Bytes(upper)}; }

/// In a range of 1000 bytes.
class GuestsTest : public ::testing::Test {
 protected:
  static IterationPlan empty_plan() {
    IterationPlan plan;
    plan.size = Bytes(1000);
    return plan;
  }

  Guests guests_{empty_plan()};
};

TEST_F(GuestsTest, LieInTheSmallestGapThatIsLargeEnough) {
  guests_.watch({bytes(100, 200), bytes(250, 600)});
  EXPECT_EQ(guests_.find_place(Bytes(50), {}), Bytes(200));
  EXPECT_EQ(guests_.find_place(Bytes(51), {}), Bytes(0));
  EXPECT_EQ(guests_.find_place(Bytes(400), {}), Bytes(600));
  EXPECT_EQ(guests_.find_place(Bytes(401), {}), std::nullopt);
}

TEST_F(GuestsTest, TakeThePreferredPlaceIfItIsFree) {
  guests_.watch({bytes(100, 200)});
  EXPECT_EQ(guests_.find_place(Bytes(50), Bytes(700)), Bytes(700));
  EXPECT_EQ(guests_.find_place(Bytes(50), Bytes(180)), Bytes(0)) << "partly occupied";
  EXPECT_EQ(guests_.find_place(Bytes(50), Bytes(960)), Bytes(0)) << "partly beyond the range";
}

TEST_F(GuestsTest, KeepOutOfWhatIsExpected) {
  guests_.watch({bytes(100, 200)});
  guests_.expect({bytes(500, 1000), bytes(50, 300), bytes(120, 150)});
  EXPECT_EQ(guests_.find_place(Bytes(50), {}), Bytes(0));
  EXPECT_EQ(guests_.find_place(Bytes(60), {}), Bytes(300));
  EXPECT_EQ(guests_.find_place(Bytes(201), {}), std::nullopt);
}

TEST_F(GuestsTest, AreInTheWayOfOthersUntilTheyLeave) {
  guests_.watch({});
  guests_.enter(Bytes(0), Bytes(600), Bytes(590));
  EXPECT_EQ(guests_.find(Bytes(0))->requested, Bytes(590));
  EXPECT_EQ(guests_.find(Bytes(300)), nullptr);
  EXPECT_FALSE(guests_.is_free(bytes(599, 700)));
  EXPECT_TRUE(guests_.is_free(bytes(600, 700)));
  EXPECT_EQ(guests_.find_place(Bytes(500), {}), std::nullopt);
  guests_.leave(Bytes(0));
  EXPECT_TRUE(guests_.empty());
  EXPECT_EQ(guests_.find_place(Bytes(1000), {}), Bytes(0));
}

TEST_F(GuestsTest, KnowWhenSlotsComeAndGo) {
  guests_.watch({bytes(0, 500)});
  guests_.slot_taken(bytes(500, 900));
  EXPECT_EQ(guests_.find_place(Bytes(200), {}), std::nullopt);
  guests_.slot_left(bytes(0, 500));
  EXPECT_EQ(guests_.find_place(Bytes(200), {}), Bytes(0));
}

}  // namespace
}  // namespace stowage::runtime
