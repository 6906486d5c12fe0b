/// The conformance suites on the real driver. Exits with 77 without a GPU, which test runners can treat as "skipped".
#include <cstdio>

#include <gtest/gtest.h>

#include "stowage/memory/cuda.hpp"

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  const auto devices = stowage::cuda_devices();
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  if (!devices || devices->empty()) {
    std::printf("SKIPPED: none of these tests was run. %s\n",
                devices ? "There is no CUDA device." : to_string(devices.error()).c_str());
    return 77;
  }
  for (const stowage::CudaDeviceInfo& device : *devices) {
    std::printf("cuda:%d: %s, %s, compute %d.%d\n", device.ordinal, device.name.c_str(),
                to_human(device.memory).c_str(), device.compute_major, device.compute_minor);
  }
  return RUN_ALL_TESTS();
}
