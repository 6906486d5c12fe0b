#include <gtest/gtest.h>

#include "stowage/memory/cuda.hpp"

namespace stowage {
namespace {

TEST(CudaAbsent, SaysThatTheLibraryWasBuiltWithoutIt) {
  EXPECT_EQ(cuda_devices().error().message, "cuda is not available: this library was built with STOWAGE_CUDA=OFF");
  EXPECT_EQ(CudaDevice::make().error().code, ErrorCode::device);
  EXPECT_EQ(open_device("cuda").error(), CudaDevice::make().error());
  EXPECT_FALSE(devices().back().in_build);
}

}  // namespace
}  // namespace stowage
