#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/cuda/declarations.hpp"
#include "memory/interface/cuda_compute.hpp"
#include "support/cuda/load.hpp"
#include "support/memory/devices.hpp"

namespace stowage::memory::cuda {
namespace {

using ::testing::IsEmpty;

constexpr StreamId kMain{0};
constexpr StreamId kSide{1};
constexpr Bytes kPage{2 << 20};

Status use_buffers(CudaDevice& device) {
  std::array<std::byte, 8> bytes = {};
  STOWAGE_TRY(const auto buffer, device.buffer_type().allocate(Bytes(100)));
  STOWAGE_TRY(const auto pinned, device.pinned_type().allocate(Bytes(100)));
  STOWAGE_TRY_STATUS(buffer->clear(1));
  STOWAGE_TRY_STATUS(buffer->write(Bytes(3), bytes));
  STOWAGE_TRY_STATUS(buffer->read(Bytes(2), bytes));
  STOWAGE_TRY_STATUS(device.copy(kMain, buffer->base(), pinned->base(), Bytes(100)));
  STOWAGE_TRY_STATUS(device.fill(kMain, buffer->base(), 1, Bytes(100)));
  return device.synchronize(kMain);
}

Status use_pages(VirtualMemory& memory) {
  const Bytes two(2 * kPage.value());
  STOWAGE_TRY(std::byte* const base, memory.reserve(two));
  STOWAGE_TRY(const PhysicalId a, memory.create(kPage));
  STOWAGE_TRY(const PhysicalId b, memory.create(kPage));
  STOWAGE_TRY_STATUS(memory.map_all(base, std::vector<PhysicalRange>{{a, Bytes(0), kPage}, {b, Bytes(0), kPage}}));
  STOWAGE_TRY_STATUS(memory.release(a));
  STOWAGE_TRY_STATUS(memory.unmap(base, two));
  STOWAGE_TRY_STATUS(memory.map(base, b, Bytes(0), kPage));
  STOWAGE_TRY_STATUS(memory.unmap(base, kPage));
  STOWAGE_TRY_STATUS(memory.release(b));
  return memory.free(base, two);
}

Status use_streams(CudaDevice& device) {
  STOWAGE_TRY(const EventId event, device.record(kMain));
  STOWAGE_TRY_STATUS(device.wait(kSide, event));
  STOWAGE_TRY(const bool complete, device.is_complete(event));
  EXPECT_TRUE(complete);
  device.forget(event);
  STOWAGE_TRY(const bool capturing, device.is_capturing(kMain));
  EXPECT_FALSE(capturing);
  STOWAGE_TRY(const auto module, computing(device).load(".version 7.0 .entry nothing()"));
  STOWAGE_TRY(const CudaKernel kernel, module->kernel("nothing"));
  return computing(device).launch(kMain, kernel, {}, {});
}

/// Calls every function of the driver that we use at least once.
Status use_everything() {
  STOWAGE_TRY(const auto device, CudaDevice::make({.driver = STOWAGE_TEST_CUDA}));
  (void)device->free_memory();
  STOWAGE_TRY_STATUS(use_buffers(*device));
  STOWAGE_TRY_STATUS(use_pages(*device->virtual_memory()));
  return use_streams(*device);
}

/// Calls whose failure is not reported: those in destructors, and optional ones inside other calls.
bool may_fail_silently(const std::string& name) {
  static const std::set<std::string> kNames = {
      "cuMemFree",           "cuMemFreeHost",   "cuStreamDestroy",
      "cuStreamSynchronize", "cuEventDestroy",  "cuModuleUnload",
      "cuCtxGetCurrent",     "cuCtxPopCurrent", "cuDevicePrimaryCtxRelease",
      "cuCtxPushCurrent",    "cuMemGetInfo",    "cuThreadExchangeStreamCaptureMode"};
  return kNames.contains(name);
}

class CudaFaults : public ::testing::TestWithParam<Code> {};

INSTANTIATE_TEST_SUITE_P(Codes, CudaFaults,
                         ::testing::Values(Code::invalid_value, Code::out_of_memory, Code::launch_failed),
                         [](const auto& code) { return "Code" + std::to_string(static_cast<int>(code.param)); });

TEST_P(CudaFaults, EveryCallMayFailAndNothingIsLeftBehind) {
  ASSERT_TRUE(use_everything());
  std::set<std::string> failed;
  for (std::uint64_t nth = 1;; ++nth) {
    fake_driver().fail(nth, static_cast<int>(GetParam()));
    const Status status = use_everything();
    const std::string name = fake_driver().failed();
    if (name.empty()) {
      EXPECT_TRUE(status);
      break;
    }
    failed.insert(name);
    if (status) {
      EXPECT_TRUE(may_fail_silently(name)) << name;
      fake_driver().drop_objects();  // objects that a destructor could not free
      continue;
    }
    EXPECT_EQ(status.error().code, GetParam() == Code::out_of_memory ? ErrorCode::out_of_memory : ErrorCode::device);
    EXPECT_THAT(status.error().message, ::testing::HasSubstr(name));
    EXPECT_THAT(fake_driver().live_objects(), IsEmpty()) << name;
  }
  EXPECT_GE(failed.size(), 38U);  // all except cuInit and the functions that describe errors
}

TEST(CudaMapAll, WithoutAccessNothingStaysMapped) {
  const auto device = make_cuda();
  VirtualMemory& memory = *device->virtual_memory();
  std::byte* const base = memory.reserve(kPage).value();
  const PhysicalId physical = memory.create(kPage).value();
  fake_driver().fail(5,
                     static_cast<int>(Code::invalid_value));  // the calls are: context, context, capture, map, access
  EXPECT_EQ(memory.map(base, physical, Bytes(0), kPage).error().code, ErrorCode::device);
  EXPECT_EQ(fake_driver().failed(), "cuMemSetAccess");
  EXPECT_EQ(fake_driver().calls("cuMemUnmap"), 1U);
  ASSERT_TRUE(memory.map(base, physical, Bytes(0), kPage));
}

}  // namespace
}  // namespace stowage::memory::cuda
