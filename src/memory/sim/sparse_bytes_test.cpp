#include "memory/sim/sparse_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::memory {
namespace {

std::vector<std::byte> read(const SparseBytes& bytes, std::int64_t offset, std::size_t count) {
  std::vector<std::byte> result(count);
  bytes.read(Bytes(offset), result);
  return result;
}

TEST(SparseBytes, TakesRoomOnlyWhereItWasWritten) {
  SparseBytes bytes(Bytes(std::int64_t{1} << 40), 7);
  EXPECT_EQ(bytes.footprint(), Bytes(0));
  const std::vector<std::byte> three(3, std::byte{1});
  bytes.write(Bytes((std::int64_t{1} << 39) - 1), three);  // across a chunk boundary
  EXPECT_EQ(bytes.footprint(), Bytes(128 << 10));
  EXPECT_THAT(read(bytes, (std::int64_t{1} << 39) - 2, 5),
              ::testing::ElementsAre(std::byte{7}, std::byte{1}, std::byte{1}, std::byte{1}, std::byte{7}));
}

TEST(SparseBytes, FillOfEverythingTakesNoRoomAtAll) {
  SparseBytes bytes(Bytes(std::int64_t{1} << 40), 7);
  bytes.fill({Bytes(10), Bytes(20)}, 1);
  EXPECT_EQ(bytes.footprint(), Bytes(64 << 10));
  bytes.fill({Bytes(0), Bytes(std::int64_t{1} << 40)}, 2);
  EXPECT_EQ(bytes.footprint(), Bytes(0));
  EXPECT_THAT(read(bytes, 5, 10), ::testing::Each(std::byte{2}));
}

}  // namespace
}  // namespace stowage::memory
