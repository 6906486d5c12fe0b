#include "alloc/chunk_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"

namespace stowage::alloc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ChunkListTest : public ::testing::Test {
 protected:
  /// The sizes of the buffers that the regions lie in.
  std::vector<Bytes> provide(std::vector<Bytes> tops, Bytes alignment = Bytes(1)) {
    const Need need{.tops = std::move(tops), .alignment = alignment};
    EXPECT_TRUE(chunks_.prepare(need));
    last_ = chunks_.commit(need);
    std::vector<Bytes> sizes;
    for (const Buffer* buffer : last_) sizes.push_back(buffer->size());
    return sizes;
  }

  std::unique_ptr<SimDevice> sim_ = SimDevice::make({.alignment = Bytes(1), .skew = Bytes(8)});
  ChunkList chunks_{sim_->buffer_type(), std::nullopt};
  std::vector<Buffer*> last_;
};

TEST_F(ChunkListTest, RegionsGoToChunksBySizeBeforeAnythingGrows) {
  EXPECT_THAT(provide({Bytes(100), Bytes(60)}), ElementsAre(Bytes(100), Bytes(60)));
  const std::uint64_t calls = sim_->calls();
  EXPECT_THAT(provide({Bytes(60), Bytes(100)}), ElementsAre(Bytes(60), Bytes(100)));
  EXPECT_THAT(provide({Bytes(50), Bytes(50)}), ElementsAre(Bytes(100), Bytes(60))) << "in order if that fits";
  EXPECT_EQ(sim_->calls(), calls);
}

TEST_F(ChunkListTest, GrowsAsLittleAsItCan) {
  provide({Bytes(100), Bytes(60)});
  EXPECT_THAT(provide({Bytes(10), Bytes(70), Bytes(90)}), ElementsAre(Bytes(10), Bytes(70), Bytes(100)));
  EXPECT_EQ(chunks_.bytes(), Bytes(180));
  EXPECT_EQ(sim_->in_use(), Bytes(180)) << "the chunk of 60 is gone";
  EXPECT_TRUE(chunks_.grows());
  provide({Bytes(100), Bytes(60)});
  EXPECT_FALSE(chunks_.grows());
}

TEST_F(ChunkListTest, AReplacedChunkDoesForAllThatLayInTheOldOne) {
  // Bases are 8 bytes past a multiple of 64, so 56 bytes are lost.
  provide({Bytes(1000)}, Bytes(64));
  const Bytes size = chunks_.bytes();
  EXPECT_GE(size, Bytes(1056));
  provide({size + Bytes(1)}, Bytes(1));
  const std::uint64_t calls = sim_->calls();
  provide({Bytes(1000)}, Bytes(64));
  EXPECT_EQ(sim_->calls(), calls);
}

TEST_F(ChunkListTest, AnEmptyNeedStillHasABuffer) {
  EXPECT_THAT(provide({Bytes(0)}), ElementsAre(Bytes(0)));
  EXPECT_EQ(chunks_.size(), 1U);
}

TEST_F(ChunkListTest, WhatIsEmptyIsNotWorthAChunk) {
  provide({Bytes(100), Bytes(60)});
  Bytes returned;
  ASSERT_TRUE(chunks_.trim(std::vector<Buffer*>{last_[1]}, std::vector<Bytes>{Bytes(60)}, returned));
  EXPECT_EQ(returned, Bytes(100));
  const std::uint64_t calls = sim_->calls();
  EXPECT_THAT(provide({Bytes(50), Bytes(0)}), ElementsAre(Bytes(60), Bytes(60)));
  EXPECT_THAT(provide({Bytes(0), Bytes(50)}), ElementsAre(Bytes(60), Bytes(60)));
  EXPECT_EQ(sim_->calls(), calls);
  EXPECT_EQ(chunks_.size(), 1U);
}

TEST_F(ChunkListTest, WhatIsRolledBackWasNeverThere) {
  provide({Bytes(100)});
  ASSERT_TRUE(chunks_.prepare({.tops = {Bytes(500), Bytes(500)}}));
  EXPECT_EQ(sim_->in_use(), Bytes(1100));
  chunks_.roll_back();
  EXPECT_EQ(sim_->in_use(), Bytes(100));
  EXPECT_EQ(chunks_.size(), 1U);
  EXPECT_THAT(sim_->violations(), IsEmpty());
}

TEST_F(ChunkListTest, AnEmptyRegionDoesNotTakeAnothersBuffer) {
  EXPECT_THAT(provide({Bytes(100), Bytes(0)}), ElementsAre(Bytes(100), Bytes(100)));
}

}  // namespace
}  // namespace stowage::alloc
