#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/cuda/driver.hpp"
#include "memory/interface/cuda_compute.hpp"
#include "support/memory/devices.hpp"

/// What a CUDA device has besides the interfaces of every device. Runs on the fake driver and on the real one.
namespace stowage::memory::cuda {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr StreamId kMain{0};
constexpr StreamId kSide{5};

/// Adds `value` to each of `count` numbers.
constexpr const char* kAddToEach = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry add_to_each(.param .u64 numbers, .param .u32 count, .param .u32 value)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [numbers];
  ld.param.u32 %r0, [count];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r0;
  @%p bra END;
  mul.wide.u32 %d1, %r2, 4;
  add.u64 %d2, %d0, %d1;
  ld.global.u32 %r5, [%d2];
  add.u32 %r5, %r5, %r1;
  st.global.u32 [%d2], %r5;
END:
  ret;
}
)";

class CudaDeviceTest : public ::testing::Test {
 protected:
  const std::shared_ptr<CudaDevice> device_ = make_cuda();

  Status add_to_each(CudaDevice& device, StreamId stream, const CudaKernel& kernel, std::byte* numbers,
                     std::uint32_t count) {
    std::uint32_t value = 1;
    const std::array<void*, 3> arguments = {&numbers, &count, &value};
    return computing(device).launch(stream, kernel, {.blocks = {(count + 255) / 256, 1, 1}, .threads = {256, 1, 1}},
                                    arguments);
  }

  std::vector<std::uint32_t> read(StreamId stream, const std::byte* numbers, std::size_t count) {
    std::vector<std::uint32_t> values(count);
    EXPECT_TRUE(device_->copy(stream, reinterpret_cast<std::byte*>(values.data()), numbers, bytes_of(count * 4)));
    EXPECT_TRUE(device_->synchronize(stream));
    return values;
  }

  static Context current_context() {
    Context context = nullptr;
    EXPECT_TRUE(Driver::load(STOWAGE_TEST_CUDA).value()->call<&Functions::cuCtxGetCurrent>(&context));
    return context;
  }
};

TEST(CudaDevices, HaveNamesMemoryAndNumbersInOrder) {
  const std::vector<CudaDeviceInfo> devices = cuda_devices(STOWAGE_TEST_CUDA).value();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].ordinal, static_cast<int>(i));
    EXPECT_FALSE(devices[i].name.empty());
    EXPECT_GT(devices[i].memory, Bytes(1 << 30));
    EXPECT_GE(devices[i].compute_major, 5);
  }
}

TEST(CudaDevices, ADeviceThatIsNotThereIsInvalid) {
  for (const int ordinal : {-1, cuda_count()}) {
    const auto device = CudaDevice::make({.ordinal = ordinal, .driver = STOWAGE_TEST_CUDA});
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, ErrorCode::invalid);
    EXPECT_THAT(device.error().message, HasSubstr(fmt::format("no device {}", ordinal)));
  }
}

TEST(CudaDevices, TheCpusIdIsInvalid) {
  EXPECT_EQ(CudaDevice::make({.id = DeviceId(0), .driver = STOWAGE_TEST_CUDA}).error().code, ErrorCode::invalid);
}

TEST_F(CudaDeviceTest, IsNamedAndNumberedByItsOrdinal) {
  EXPECT_EQ(device_->name(), "cuda:0");
  EXPECT_EQ(device_->id(), DeviceId(1));
  EXPECT_EQ(device_->info().ordinal, 0);
  EXPECT_FALSE(device_->buffer_type().host_visible());
  EXPECT_TRUE(device_->pinned_type().host_visible());
  EXPECT_EQ(device_->pinned_type().name(), "cuda:0 pinned");
  EXPECT_EQ(device_->pinned_type().device(), device_->id());
}

TEST_F(CudaDeviceTest, FreeMemoryShrinksByWhatIsTaken) {
  const Bytes large(std::int64_t{256} << 20);
  const Bytes before = device_->free_memory().value();
  ASSERT_GE(before, large);
  const auto buffer = device_->buffer_type().allocate(large).value();
  EXPECT_LE(device_->free_memory().value(), before - large);
}

TEST_F(CudaDeviceTest, LeavesTheContextOfTheCallersThreadAsItWas) {
  ASSERT_EQ(current_context(), nullptr);
  const auto buffer = device_->buffer_type().allocate(Bytes(64)).value();
  ASSERT_TRUE(buffer->clear());
  EXPECT_EQ(current_context(), nullptr);
  const Driver& driver = *Driver::load(STOWAGE_TEST_CUDA).value();
  Context own = nullptr;
  ASSERT_TRUE(driver.call<&Functions::cuDevicePrimaryCtxRetain>(&own, device_->info().ordinal));
  ASSERT_TRUE(driver.call<&Functions::cuCtxPushCurrent>(own));
  ASSERT_TRUE(buffer->clear());
  EXPECT_EQ(current_context(), own);
  ASSERT_TRUE(driver.call<&Functions::cuCtxPopCurrent>(&own));
  ASSERT_TRUE(driver.call<&Functions::cuDevicePrimaryCtxRelease>(device_->info().ordinal));
}

TEST_F(CudaDeviceTest, AnotherThreadCanUseTheDevice) {
  const auto buffer = device_->buffer_type().allocate(Bytes(64)).value();
  std::jthread([&] {
    EXPECT_TRUE(buffer->clear(7));
    EXPECT_EQ(current_context(), nullptr);
  }).join();
  std::byte last{};
  ASSERT_TRUE(buffer->read(Bytes(63), {&last, 1}));
  EXPECT_EQ(last, std::byte{7});
}

TEST_F(CudaDeviceTest, AnAdoptedStreamKeepsItsIdAndIsTheStream) {
  const std::shared_ptr<CudaDevice> owner = make_cuda(0, DeviceId(8));
  const Stream native = owner->native(kSide).value();
  EXPECT_NE(native, nullptr);
  EXPECT_EQ(owner->native(kSide).value(), native);
  const StreamId adopted = device_->adopt(native).value();
  EXPECT_EQ(device_->adopt(native).value(), adopted);
  EXPECT_EQ(device_->native(adopted).value(), native);
  EXPECT_NE(device_->native(StreamId(adopted.index() + 1)).value(), native);
  EXPECT_EQ(owner->adopt(native).value(), kSide);
  const auto buffer = device_->buffer_type().allocate(Bytes(4)).value();
  std::uint32_t sent = 77;
  ASSERT_TRUE(owner->copy(kSide, buffer->base(), reinterpret_cast<std::byte*>(&sent), Bytes(4)));
  EXPECT_THAT(read(adopted, buffer->base(), 1), Each(77U));  // both are the same stream, so the copy comes first
}

TEST_F(CudaDeviceTest, TheDefaultStreamCanBeAdoptedAndThatOfTheThreadCannot) {
  ASSERT_TRUE(device_->native(StreamId(0)));  // takes id 0
  const StreamId legacy = device_->adopt(nullptr).value();
  EXPECT_EQ(legacy, StreamId(1));
  EXPECT_EQ(device_->native(legacy).value(), nullptr);
  const EventId event = device_->record(legacy).value();
  EXPECT_TRUE(device_->wait(kMain, event));
  EXPECT_TRUE(device_->synchronize(legacy));
  EXPECT_TRUE(device_->is_complete(event).value());
  device_->forget(event);
  EXPECT_EQ(device_->adopt(reinterpret_cast<Stream>(kStreamPerThread)).error().code, ErrorCode::invalid);
}

TEST_F(CudaDeviceTest, AStreamThatIsNotCapturedSaysSo) { EXPECT_FALSE(device_->is_capturing(kMain).value()); }

TEST_F(CudaDeviceTest, IdsOfOneDeviceAreUnknownToAnother) {
  const std::shared_ptr<CudaDevice> other = make_cuda(0, DeviceId(8));
  const EventId event = other->record(kMain).value();
  (void)device_->record(kMain).value();
  EXPECT_EQ(device_->is_complete(event).error().code, ErrorCode::invalid);
  const Bytes page = other->virtual_memory()->granularity();
  const PhysicalId physical = other->virtual_memory()->create(page).value();
  EXPECT_EQ(device_->virtual_memory()->release(physical).error().code, ErrorCode::invalid);
  EXPECT_TRUE(other->virtual_memory()->release(physical));
}

TEST_F(CudaDeviceTest, ADeviceGivesBackWhatIsLeftInIt) {
  const std::shared_ptr<CudaDevice> short_lived = make_cuda(0, DeviceId(8));
  VirtualMemory& memory = *short_lived->virtual_memory();
  const Bytes page = memory.granularity();
  std::byte* const base = memory.reserve(Bytes(2 * page.value())).value();
  const PhysicalId mapped = memory.create(page).value();
  ASSERT_TRUE(memory.create(page));
  ASSERT_TRUE(memory.map(base, mapped, Bytes(0), page));
  ASSERT_TRUE(memory.release(mapped));
  ASSERT_TRUE(short_lived->record(kSide));
}

TEST_F(CudaDeviceTest, AKernelComputesInItsStream) {
  constexpr std::uint32_t kCount = 1000;
  const auto module = computing(*device_).load(kAddToEach).value();
  const CudaKernel kernel = module->kernel("add_to_each").value();
  const auto buffer = device_->buffer_type().allocate(Bytes(4 * kCount)).value();
  ASSERT_TRUE(buffer->clear());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(add_to_each(*device_, kSide, kernel, buffer->base(), kCount - 1));
  std::vector<std::uint32_t> expected(kCount, 3);
  expected.back() = 0;
  EXPECT_EQ(read(kSide, buffer->base(), kCount), expected);
}

TEST_F(CudaDeviceTest, AStreamWaitsForLongWorkOfAnother) {
  constexpr std::uint32_t kCount = 4 << 20;
  const auto module = computing(*device_).load(kAddToEach).value();
  const CudaKernel kernel = module->kernel("add_to_each").value();
  const auto buffer = device_->buffer_type().allocate(Bytes(4 * kCount)).value();
  ASSERT_TRUE(buffer->clear());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(add_to_each(*device_, kMain, kernel, buffer->base(), kCount));
  const EventId event = device_->record(kMain).value();
  ASSERT_TRUE(device_->wait(kSide, event));
  device_->forget(event);
  (void)device_->record(kMain).value();  // may reuse the driver's event
  EXPECT_THAT(read(kSide, buffer->base() + 4 * (kCount - 1), 1), Each(50U));
  ASSERT_TRUE(device_->synchronize(kMain));
}

TEST_F(CudaDeviceTest, AKernelSeesPagesThatWereStitchedTogether) {
  constexpr std::size_t kPages = 8;
  const auto module = computing(*device_).load(kAddToEach).value();
  const CudaKernel kernel = module->kernel("add_to_each").value();
  VirtualMemory& memory = *device_->virtual_memory();
  const Bytes page = memory.granularity();
  const Bytes whole(page.value() * static_cast<std::int64_t>(kPages));
  std::vector<PhysicalRange> ranges;
  for (std::size_t i = 0; i < kPages; ++i) ranges.push_back({memory.create(page).value(), Bytes(0), page});
  std::byte* const first = memory.reserve(whole).value();
  std::byte* const second = memory.reserve(whole).value();
  ASSERT_TRUE(memory.map_all(first, ranges));
  ASSERT_TRUE(memory.map_all(second, std::vector<PhysicalRange>(ranges.rbegin(), ranges.rend())));
  const std::vector<std::uint32_t> zeros(static_cast<std::size_t>(whole.value()) / 4);
  ASSERT_TRUE(device_->copy(kMain, first, reinterpret_cast<const std::byte*>(zeros.data()), whole));
  ASSERT_TRUE(add_to_each(*device_, kMain, kernel, first, static_cast<std::uint32_t>(zeros.size())));
  ASSERT_TRUE(add_to_each(*device_, kMain, kernel, second, static_cast<std::uint32_t>(page.value() / 4)));
  const std::vector<std::uint32_t> values = read(kMain, first, zeros.size());
  const auto last_page = values.end() - page.value() / 4;
  EXPECT_THAT(std::vector(values.begin(), last_page), Each(1U));
  EXPECT_THAT(std::vector(last_page, values.end()), Each(2U));
  for (std::byte* const base : {first, second}) {
    EXPECT_TRUE(memory.unmap(base, whole));
    EXPECT_TRUE(memory.free(base, whole));
  }
  for (const PhysicalRange& range : ranges) EXPECT_TRUE(memory.release(range.physical));
}

TEST_F(CudaDeviceTest, CopiesGoThroughPinnedMemory) {
  const auto pinned = device_->pinned_type().allocate(Bytes(1 << 20)).value();
  const auto buffer = device_->buffer_type().allocate(Bytes(1 << 20)).value();
  ASSERT_TRUE(pinned->clear(9));
  ASSERT_TRUE(device_->copy(kSide, buffer->base(), pinned->base(), Bytes(1 << 20)));
  ASSERT_TRUE(device_->synchronize(kSide));
  ASSERT_TRUE(pinned->clear(1));
  ASSERT_TRUE(device_->copy(kSide, pinned->base(), buffer->base(), Bytes(1 << 20)));
  ASSERT_TRUE(device_->synchronize(kSide));
  EXPECT_EQ(pinned->base()[(1 << 20) - 1], std::byte{9});
}

TEST_F(CudaDeviceTest, TheDriverTellsWhoseMemoryItIs) {
  const std::unique_ptr<Buffer> device = device_->buffer_type().allocate(Bytes(100)).value();
  const std::unique_ptr<Buffer> pinned = device_->pinned_type().allocate(Bytes(100)).value();
  std::byte on_the_stack{};
  EXPECT_EQ(device_->buffer_type().owns(device->base() + 99), std::optional(true));
  EXPECT_EQ(device_->buffer_type().owns(pinned->base()), std::optional(false));
  EXPECT_EQ(device_->buffer_type().owns(&on_the_stack), std::optional(false));
  EXPECT_EQ(device_->pinned_type().owns(pinned->base() + 99), std::optional(true));
  EXPECT_EQ(device_->pinned_type().owns(device->base()), std::optional(false));
  EXPECT_EQ(device_->pinned_type().owns(&on_the_stack), std::optional(false));
}

TEST_F(CudaDeviceTest, MappedPagesAreMemoryOfTheDevice) {
  VirtualMemory& memory = *device_->virtual_memory();
  const Bytes page = memory.granularity();
  std::byte* const base = memory.reserve(page).value();
  EXPECT_EQ(device_->buffer_type().owns(base), std::optional(false));
  const PhysicalId physical = memory.create(page).value();
  ASSERT_TRUE(memory.map(base, physical, Bytes(0), page));
  EXPECT_EQ(device_->buffer_type().owns(base + page.value() - 1), std::optional(true));
  ASSERT_TRUE(memory.unmap(base, page));
  ASSERT_TRUE(memory.release(physical));
  ASSERT_TRUE(memory.free(base, page));
}

TEST_F(CudaDeviceTest, MemoryOfAnotherGpuIsNotOfThisOne) {
  if (cuda_count() < 2) GTEST_SKIP() << "there is only one device";
  const std::shared_ptr<CudaDevice> other = make_cuda(1);
  const std::unique_ptr<Buffer> theirs = other->buffer_type().allocate(Bytes(100)).value();
  EXPECT_EQ(device_->buffer_type().owns(theirs->base()), std::optional(false));
  EXPECT_EQ(other->buffer_type().owns(theirs->base()), std::optional(true));
}

TEST_F(CudaDeviceTest, TextThatIsNoPtxIsRefusedWithTheCompilersWords) {
  const auto module = computing(*device_).load(".version 7.0\n.target sm_80\n.address_size 64\nnonsense\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::device);
  EXPECT_THAT(module.error().message, HasSubstr("cuModuleLoadDataEx"));
  EXPECT_THAT(module.error().message, HasSubstr("line 4"));
}

TEST_F(CudaDeviceTest, AnUnknownKernelAndAGridWithoutThreadsAreRefused) {
  const auto module = computing(*device_).load(kAddToEach).value();
  EXPECT_EQ(module->kernel("subtract").error().code, ErrorCode::unknown_name);
  const CudaKernel kernel = module->kernel("add_to_each").value();
  EXPECT_EQ(computing(*device_).launch(kMain, kernel, {.blocks = {1, 0, 1}}, {}).error().code, ErrorCode::invalid);
  const std::shared_ptr<CudaDevice> other = make_cuda(0, DeviceId(8));
  EXPECT_EQ(computing(*other).launch(kMain, kernel, {}, {}).error().code, ErrorCode::invalid);
}

TEST_F(CudaDeviceTest, TwoDevicesWorkSideBySide) {
  if (cuda_count() < 2) GTEST_SKIP() << "there is only one device";
  const std::shared_ptr<CudaDevice> second = make_cuda(1);
  EXPECT_EQ(second->id(), DeviceId(2));
  const auto here = device_->buffer_type().allocate(Bytes(64)).value();
  const auto there = second->buffer_type().allocate(Bytes(64)).value();
  ASSERT_TRUE(here->clear(1));
  ASSERT_TRUE(there->clear(2));
  std::byte value{};
  ASSERT_TRUE(here->read(Bytes(0), {&value, 1}));
  EXPECT_EQ(value, std::byte{1});
  ASSERT_TRUE(second->copy(kMain, &value, there->base(), Bytes(1)));
  ASSERT_TRUE(second->synchronize(kMain));
  EXPECT_EQ(value, std::byte{2});
}

}  // namespace
}  // namespace stowage::memory::cuda
