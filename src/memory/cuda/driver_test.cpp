#include "memory/cuda/driver.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cuda/load.hpp"
#include "support/memory/devices.hpp"

namespace stowage::memory::cuda {
namespace {

using ::testing::HasSubstr;

constexpr StreamId kMain{0};

/// A path to the fake driver under which it has not been loaded yet.
std::string fake_by_another_name(const std::string& detour) {
  const std::filesystem::path path(STOWAGE_TEST_CUDA);
  return path.parent_path() / detour / path.filename();
}

TEST(CudaDriver, WithoutADriverTheAnswerNamesWhatWasTried) {
  const auto devices = cuda_devices("libno-such-driver.so.1");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, ErrorCode::device);
  EXPECT_THAT(devices.error().message,
              HasSubstr("cuda is not available: no CUDA driver: libno-such-driver.so.1 could not be loaded: "));
  EXPECT_EQ(CudaDevice::make({.driver = "libno-such-driver.so.1"}).error(), devices.error());
}

TEST(CudaDriver, TheEnvironmentNamesTheLibraryUnlessTheCallerDoes) {
  ASSERT_EQ(setenv("STOWAGE_CUDA_DRIVER", "libfrom-the-environment.so", 1), 0);
  EXPECT_THAT(cuda_devices().error().message, HasSubstr("libfrom-the-environment.so could not be loaded"));
  EXPECT_TRUE(cuda_devices(STOWAGE_TEST_CUDA));
  ASSERT_EQ(setenv("STOWAGE_CUDA_DRIVER", STOWAGE_TEST_CUDA, 1), 0);
  EXPECT_EQ(cuda_devices().value().size(), 2U);
  ASSERT_EQ(unsetenv("STOWAGE_CUDA_DRIVER"), 0);
}

TEST(CudaDriver, ALibraryThatIsNoDriverIsSaidToBeNone) {
  EXPECT_THAT(cuda_devices("libc.so.6").error().message, HasSubstr("libc.so.6 has no cuGetProcAddress_v2"));
}

TEST(CudaDriver, ADriverThatLacksAFunctionIsTooOld) {
  fake_driver().hide("cuMemSetAccess");
  const auto devices = cuda_devices(fake_by_another_name("."));
  ASSERT_FALSE(devices);
  EXPECT_THAT(devices.error().message, HasSubstr("has no cuMemSetAccess of version 10020; it is too old"));
}

TEST(CudaDriver, AFailedStartIsAnErrorAndTriedAgain) {
  const std::string driver = fake_by_another_name("./.");
  fake_driver().fail(1, static_cast<int>(Code::no_device));
  EXPECT_THAT(cuda_devices(driver).error().message,
              HasSubstr("cuInit(0): CUDA_ERROR_OF_THE_FAKE (as the test demands)"));
  EXPECT_TRUE(cuda_devices(driver));
}

TEST(CudaDriver, NoDevicesAreNotAnError) {
  fake_driver().set_device_count(0);
  EXPECT_TRUE(cuda_devices(STOWAGE_TEST_CUDA).value().empty());
}

TEST(CudaDriver, AnErrorCarriesTheCallItsArgumentsAndTheDriversWords) {
  const auto device = make_cuda();
  std::byte* const range = device->virtual_memory()->reserve(Bytes(2 << 20)).value();
  fake_driver().fail(4, static_cast<int>(Code::invalid_value));  // after two calls for the context and one for captures
  const Status status = device->virtual_memory()->free(range, Bytes(2 << 20));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            fmt::format("cuda: cuMemAddressFree({:#x}, 2097152): CUDA_ERROR_OF_THE_FAKE (as the test demands)",
                        reinterpret_cast<std::uintptr_t>(range)));
}

TEST(CudaDriver, OutOfMemoryNamesTypeAndSize) {
  const auto device = make_cuda();
  const auto most = device->buffer_type().allocate(Bytes(std::int64_t{7} << 30)).value();
  const auto more = device->buffer_type().allocate(Bytes(std::int64_t{2} << 30));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(more.error().message, HasSubstr("cuda:0: cannot allocate 2147483648 bytes: cuda: cuMemAlloc("));
  EXPECT_THAT(more.error().message, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (out of memory)"));
}

TEST(CudaDriver, EventsAreNotCompleteBeforeTheDriverSaysSo) {
  const auto device = make_cuda();
  const EventId event = device->record(kMain).value();
  fake_driver().set_complete(false);
  EXPECT_FALSE(device->is_complete(event).value());
  fake_driver().set_complete(true);
  EXPECT_TRUE(device->is_complete(event).value());
}

TEST(CudaDriver, ForgottenEventsAreUsedAgain) {
  const auto device = make_cuda();
  for (int i = 0; i < 10; ++i) device->forget(device->record(kMain).value());
  EXPECT_EQ(fake_driver().calls("cuEventCreate"), 1U);
  EXPECT_EQ(fake_driver().calls("cuEventDestroy"), 0U);
}

TEST(CudaDriver, ACapturedStreamSaysSo) {
  const auto device = make_cuda();
  fake_driver().set_capturing(true);
  EXPECT_TRUE(device->is_capturing(kMain).value());
}

TEST(CudaDriver, IsCalledInTheDevicesContextThoughTheCallersIsAnothers) {
  const auto device = make_cuda(0);
  const auto other = make_cuda(1);
  const Driver& driver = *Driver::load(STOWAGE_TEST_CUDA).value();
  Context theirs = nullptr;
  ASSERT_TRUE(driver.call<&Functions::cuDevicePrimaryCtxRetain>(&theirs, 1));
  ASSERT_TRUE(driver.call<&Functions::cuCtxPushCurrent>(theirs));
  // The fake driver refuses memory of another context.
  EXPECT_TRUE(device->buffer_type().allocate(Bytes(64)).value()->clear());
  EXPECT_TRUE(device->synchronize(kMain));
  Context current = nullptr;
  ASSERT_TRUE(driver.call<&Functions::cuCtxPopCurrent>(&current));
  EXPECT_EQ(current, theirs);
  ASSERT_TRUE(driver.call<&Functions::cuDevicePrimaryCtxRelease>(1));
}

TEST(CudaDriver, AStreamOfAnotherGpuIsRefused) {
  const auto device = make_cuda(0);
  const auto other = make_cuda(1);
  const Stream theirs = other->native(kMain).value();
  const Result<StreamId> refused = device->adopt(theirs);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(refused.error().message, "cuda:0: the stream belongs to GPU 1");
  EXPECT_EQ(other->adopt(theirs).value(), kMain);
  const std::uint64_t before = fake_driver().calls();
  EXPECT_EQ(other->adopt(theirs).value(), kMain);
  EXPECT_EQ(fake_driver().calls(), before) << "a stream that is known is not asked for again";
}

TEST(CudaDriver, MapAllAsksForAccessOnce) {
  const auto device = make_cuda();
  VirtualMemory& memory = *device->virtual_memory();
  const Bytes page = memory.granularity();
  const Bytes whole(16 * page.value());
  std::byte* const base = memory.reserve(whole).value();
  std::vector<PhysicalRange> ranges;
  for (int i = 0; i < 16; ++i) ranges.push_back({memory.create(page).value(), Bytes(0), page});
  ASSERT_TRUE(memory.map_all(base, ranges));
  EXPECT_EQ(fake_driver().calls("cuMemMap"), 16U);
  EXPECT_EQ(fake_driver().calls("cuMemSetAccess"), 1U);
  ASSERT_TRUE(memory.unmap(base, whole));
  EXPECT_EQ(fake_driver().calls("cuMemUnmap"), 1U);
}

TEST(CudaDriver, WrongArgumentsNeverReachIt) {
  const auto device = make_cuda();
  VirtualMemory& memory = *device->virtual_memory();
  std::byte* const base = memory.reserve(Bytes(4 << 20)).value();
  const PhysicalId physical = memory.create(Bytes(2 << 20)).value();
  const std::uint64_t before = fake_driver().calls();
  EXPECT_FALSE(memory.reserve(Bytes(5)));
  EXPECT_FALSE(memory.reserve(kMaxBytes));
  EXPECT_FALSE(memory.create(Bytes(0)));
  EXPECT_FALSE(memory.map(base + 1, physical, Bytes(0), Bytes(2 << 20)));
  EXPECT_FALSE(memory.map(base, physical, Bytes(0), Bytes(4 << 20)));
  EXPECT_FALSE(memory.unmap(base, Bytes(2 << 20)));
  EXPECT_FALSE(memory.free(base, Bytes(2 << 20)));
  EXPECT_FALSE(device->copy(kMain, nullptr, base, Bytes(1)));
  EXPECT_FALSE(device->buffer_type().allocate(Bytes(-1)));
  EXPECT_EQ(fake_driver().calls(), before);
}

TEST(CudaDriver, IsNotCalledAgainOnceItSaysThatItIsDeinitialized) {
  const std::string driver = fake_by_another_name("././.");  // cannot be used again after this test
  {
    const auto device = CudaDevice::make({.driver = driver}).value();
    const auto buffer = device->buffer_type().allocate(Bytes(64)).value();
    const auto pinned = device->pinned_type().allocate(Bytes(64)).value();
    ASSERT_TRUE(device->virtual_memory()->reserve(Bytes(2 << 20)));
    ASSERT_TRUE(device->record(kMain));
    fake_driver().deinitialize();
    const Status status = device->synchronize(kMain);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::device);
    EXPECT_FALSE(device->free_memory());
    EXPECT_FALSE(buffer->clear());
  }  // nor in the destructors
  fake_driver().drop_objects();
}

/// Objects that may still be alive as static ones when the process exits. The exit status of the process says whether
/// the driver was called to destroy them.
struct Holder {
  std::shared_ptr<CudaDevice> device = {};
  std::unique_ptr<Buffer> buffer = {};

  ~Holder() {
    const std::uint64_t before = fake_driver().calls();
    buffer.reset();
    device.reset();
    std::_Exit(fake_driver().calls() == before ? 0 : 1);
  }
};

TEST(CudaDriverDeathTest, IsNotCalledWhenTheProcessExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // so that the child process has not loaded the driver yet
  const auto exit_holding_a_device = [] {
    static Holder holder;  // constructed before the driver is loaded, and so destroyed after it
    holder.device = make_cuda();
    holder.buffer = holder.device->buffer_type().allocate(Bytes(64)).value();
    std::exit(1);
  };
  EXPECT_EXIT(exit_holding_a_device(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stowage::memory::cuda
