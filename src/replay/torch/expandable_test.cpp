#include "replay/torch/expandable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/replay/torch_model_test.hpp"

namespace stowage::replaying {
namespace {

class TorchExpandable : public TorchModelTest {
 protected:
  TorchExpandable() : TorchModelTest(mib(100)) { model_ = TorchExpandableModel::make(*sim_).value(); }
};

TEST_F(TorchExpandable, LargeRequestsLieInARowInPagesOf20MiB) {
  std::byte* const first = take(mib(15));
  EXPECT_EQ(reserved(), mib(20));
  EXPECT_EQ(take(mib(15)), first + mib(15).value());
  EXPECT_EQ(reserved(), mib(40));
  EXPECT_EQ(model_->stats().maps, 2U);
  EXPECT_EQ(model_->stats().access_calls, 2U);
}

TEST_F(TorchExpandable, SmallRequestsLieInPagesOf2MiB) {
  std::byte* const first = take(Bytes(1));
  EXPECT_EQ(take(Bytes(1)), first + 512);
  EXPECT_EQ(reserved(), mib(2));
  take(mib(1));
  take(mib(1));
  EXPECT_EQ(reserved(), mib(4));
}

TEST_F(TorchExpandable, PagesOfOneRequestAreMadeAccessibleAtOnce) {
  take(mib(50));
  EXPECT_EQ(model_->stats().maps, 3U);
  EXPECT_EQ(model_->stats().access_calls, 1U);
}

TEST_F(TorchExpandable, SplitsWhere512BytesAreLeft) {
  std::byte* const first = take(mib(20) - Bytes(512));
  EXPECT_EQ(model_->stats().rounded, mib(20) - Bytes(512));
  EXPECT_EQ(take(mib(2)), first + (mib(20) - Bytes(512)).value()) << "it begins in the rest of the first page";
}

TEST_F(TorchExpandable, TheEndThatCanGrowIsTakenLast) {
  std::byte* const hole = take(mib(12));
  std::byte* const fence = take(mib(2));
  EXPECT_EQ(model_->stats().largest_idle, mib(6));
  free(hole, mib(12));
  EXPECT_EQ(take(mib(6)), hole) << "6 MiB at the end would fit better";
  (void)fence;
}

TEST_F(TorchExpandable, StreamsHaveSegmentsOfTheirOwn) {
  free(take(mib(5), kMain), mib(5), kMain);
  take(mib(5), kSide);
  EXPECT_EQ(reserved(), mib(40));
}

TEST_F(TorchExpandable, TrimUnmapsWholePagesAndTheHoleIsFilledAgain) {
  std::byte* const a = take(mib(45));
  take(mib(5));
  std::byte* const c = take(mib(40));
  EXPECT_EQ(reserved(), mib(100));
  free(a, mib(45));
  EXPECT_EQ(model_->trim(), mib(40));
  EXPECT_EQ(model_->stats().unmaps, 2U);
  EXPECT_EQ(model_->snapshot().segments.size(), 1U);
  EXPECT_EQ(take(mib(30)), a) << "the lowest unmapped place";
  EXPECT_EQ(reserved(), mib(100));
  free(c, mib(40));
}

TEST_F(TorchExpandable, WithoutMemoryIdlePagesGoToOtherStreams) {
  free(take(mib(80), kMain), mib(80), kMain);
  take(mib(60), kSide);
  EXPECT_EQ(reserved(), mib(60));
  EXPECT_EQ(model_->stats().failures, 0U);
}

TEST_F(TorchExpandable, APartialMapIsRolledBack) {
  sim_->fail(SimCall::map, 2, 100);
  const auto refused = model_->allocate(mib(50), kMain);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(sim_->in_use(), Bytes(0));
  EXPECT_EQ(reserved(), Bytes(0));
  sim_->fail(SimCall::map, 0);
  take(mib(50));
  EXPECT_EQ(reserved(), mib(60));
}

TEST_F(TorchExpandable, EveryNthFailureLeavesItInOrder) {
  for (std::uint64_t nth = 1; nth < 40; ++nth) {
    sim_->fail_any(nth);
    std::vector<std::pair<std::byte*, Bytes>> live;
    for (const std::int64_t size : {30, 1, 25, 3, 20}) {
      if (const auto address = model_->allocate(mib(size), kMain)) live.emplace_back(*address, mib(size));
    }
    sim_->fail_any(0);
    EXPECT_EQ(sim_->in_use(), reserved()) << nth;
    for (const auto& [address, size] : live) free(address, size);
    model_->trim();
    EXPECT_EQ(reserved(), Bytes(0)) << nth;
    EXPECT_EQ(sim_->in_use(), Bytes(0)) << nth;
  }
}

TEST_F(TorchExpandable, APageThatCannotBeUnmappedStays) {
  free(take(mib(60)), mib(60));
  sim_->fail(SimCall::unmap, 2);
  EXPECT_EQ(model_->trim(), mib(20));
  EXPECT_EQ(reserved(), mib(40));
  EXPECT_EQ(sim_->in_use(), mib(40));
  take(mib(60));
  EXPECT_EQ(reserved(), mib(60));
}

TEST_F(TorchExpandable, AFailedRollBackIsMadeUseOf) {
  sim_->fail(SimCall::map, 2, 2);
  sim_->fail(SimCall::unmap, 1);
  EXPECT_FALSE(model_->allocate(mib(50), kMain));
  take(mib(50));
  EXPECT_EQ(sim_->in_use(), mib(60));
}

TEST(TorchExpandableModel, NeedsVirtualMemory) {
  const std::unique_ptr<SimDevice> sim = SimDevice::make({.virtual_memory = false});
  EXPECT_EQ(TorchExpandableModel::make(*sim).error().code, ErrorCode::unsupported);
}

TEST(TorchExpandableModel, ServesOnTheHost) {
  if (cpu_device().virtual_memory() == nullptr) GTEST_SKIP() << "NO VIRTUAL MEMORY on this machine";
  const std::unique_ptr<Allocator> model = TorchExpandableModel::make(cpu_device()).value();
  std::byte* const address = model->allocate(mib(3), kMain).value();
  address[mib(3).value() - 1] = std::byte{1};
  model->free(address, mib(3), kMain);
}

}  // namespace
}  // namespace stowage::replaying
