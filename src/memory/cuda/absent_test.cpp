#include <gtest/gtest.h>

#include "stowage/memory/cuda.hpp"

namespace stowage {
namespace {

TEST(CudaAbsent, SaysThatTheLibraryWasBuiltWithoutIt) {
  EXPECT_EQ(cuda_devices().error().message, "cuda is not available: this library was built with STOWAGE_CUDA=OFF");
  EXPECT_EQ(CudaDevice::make().error().code, ErrorCode::device);
}

}  // namespace
}  // namespace stowage
