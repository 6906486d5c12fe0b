#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/plan.hpp"

namespace stowage {
namespace {

using ::testing::HasSubstr;

/// Tensors 1 and 4 lie in the caller's buffers.
Plan plan() {
  Plan plan;
  plan.bindings = {{TensorId(1), Bytes(64), Bytes(32)}, {TensorId(4), Bytes(16), Bytes(8)}};
  return plan;
}

std::string verdict(std::vector<UserBuffer> buffers) {
  const Status status = check_bindings(plan(), buffers);
  return status ? "fine" : status.error().message;
}

TEST(Bindings, OneAlignedAndLargeEnoughBufferEachIsFine) {
  EXPECT_EQ(verdict({{TensorId(1), 1024, Bytes(64)}, {TensorId(4), 2048, Bytes(100)}}), "fine");
  EXPECT_EQ(verdict({{TensorId(4), 1088, Bytes(16)}, {TensorId(1), 1024, Bytes(64)}}), "fine")
      << "in any order, side by side";
}

TEST(Bindings, MissingDoubledAndUnknownOnesAreErrors) {
  EXPECT_EQ(verdict({{TensorId(1), 1024, Bytes(64)}}), "the buffer for tensor 4 is missing");
  EXPECT_THAT(verdict({{TensorId(1), 1024, Bytes(64)}, {TensorId(1), 2048, Bytes(64)}, {TensorId(4), 4096, Bytes(16)}}),
              HasSubstr("tensor 1 is given twice"));
  EXPECT_THAT(verdict({{TensorId(1), 1024, Bytes(64)}, {TensorId(3), 512, Bytes(1)}, {TensorId(4), 2048, Bytes(16)}}),
              HasSubstr("tensor 3 belongs to no binding"));
}

TEST(Bindings, SizeAlignmentAndOverlapAreChecked) {
  EXPECT_EQ(verdict({{TensorId(1), 1024, Bytes(63)}, {TensorId(4), 2048, Bytes(16)}}),
            "the buffer for tensor 1 has 63 bytes, but the tensor needs 64");
  EXPECT_EQ(verdict({{TensorId(1), 1040, Bytes(64)}, {TensorId(4), 2048, Bytes(16)}}),
            "the buffer for tensor 1 is not at a multiple of 32");
  EXPECT_EQ(verdict({{TensorId(1), 1024, Bytes(64)}, {TensorId(4), 1080, Bytes(16)}}),
            "the buffer for tensor 1 overlaps the buffer for tensor 4");
}

}  // namespace
}  // namespace stowage
