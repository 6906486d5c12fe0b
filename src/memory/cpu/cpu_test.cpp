#include "memory/cpu/cpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/memory/devices.hpp"

namespace stowage::memory {
namespace {

TEST(CpuDevice, IsTheHost) {
  EXPECT_EQ(cpu_device().id(), DeviceId(0));
  EXPECT_EQ(cpu_device().buffer_type().name(), "cpu");
  EXPECT_EQ(cpu_device().buffer_type().alignment(), Bytes(64));
  EXPECT_TRUE(cpu_device().buffer_type().host_visible());
  EXPECT_EQ(&cpu_device(), &cpu_device());
}

TEST(CpuBufferType, OptionsThatMakeNoSenseAreInvalid) {
  for (const std::int64_t alignment : {std::int64_t{0}, std::int64_t{-8}, std::int64_t{48}, std::int64_t{1} << 31}) {
    EXPECT_EQ(make_cpu_buffer_type("odd", {.alignment = Bytes(alignment)}).error().code, ErrorCode::invalid)
        << alignment;
  }
  const auto type = make_cpu_buffer_type("odd", {.max_size = Bytes(0)});
  ASSERT_FALSE(type);
  EXPECT_THAT(type.error().message, ::testing::HasSubstr("odd"));
}

TEST(CpuBufferType, LargeMappedBuffersBeginAtAHugePage) {
  const auto type = make_cpu_buffer_type("pages", {.map_pages = true}).value();
  const auto buffer = type->allocate(Bytes((4 << 20) + 5)).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->base()) % (2U << 20), 0U);
  EXPECT_EQ(buffer->base()[(4 << 20) + 4], std::byte{0});
}

TEST(BorrowBuffer, IsTheMemoryItselfUnalignedToo) {
  alignas(64) std::array<std::byte, 100> memory{};
  {
    const std::unique_ptr<Buffer> buffer = borrow_buffer(std::span(memory).subspan(3, 50));
    EXPECT_EQ(buffer->base(), memory.data() + 3);
    EXPECT_EQ(buffer->size(), Bytes(50));
    EXPECT_EQ(&buffer->type(), &cpu_device().buffer_type());
    ASSERT_TRUE(buffer->clear(8));
    EXPECT_FALSE(buffer->fill({Bytes(0), Bytes(51)}, 9));
  }
  EXPECT_EQ(memory[2], std::byte{0});
  EXPECT_EQ(memory[3], std::byte{8});
  EXPECT_EQ(memory[52], std::byte{8});
  EXPECT_EQ(memory[53], std::byte{0});
}

TEST(BorrowBuffer, NothingBorrowedIsAnEmptyBuffer) {
  std::byte one{};
  EXPECT_EQ(borrow_buffer({&one, 0})->base(), nullptr);
}

TEST(CpuVirtualMemory, IsAbsentWhereTheSystemHasNoFilesInMemory) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::unique_ptr<VirtualMemory> memory = make_memfd_memory();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(memory, nullptr);
}

TEST(CpuVirtualMemory, TouchingReservedAddressesIsAFault) {
  VirtualMemory* const memory = cpu_device().virtual_memory();
  if (memory == nullptr) GTEST_SKIP() << "this system has no files in memory";
  std::byte* const base = memory->reserve(memory->granularity()).value();
  EXPECT_DEATH(*static_cast<volatile std::byte*>(base) = std::byte{1}, "");
  EXPECT_TRUE(memory->free(base, memory->granularity()));
}

TEST(CpuVirtualMemory, ThousandsOfPiecesOfPhysicalMemoryAreNoProblem) {
  VirtualMemory* const memory = cpu_device().virtual_memory();
  if (memory == nullptr) GTEST_SKIP() << "this system has no files in memory";
  std::vector<PhysicalId> pieces;
  for (int i = 0; i < 5000; ++i) pieces.push_back(memory->create(memory->granularity()).value());
  for (const PhysicalId piece : pieces) EXPECT_TRUE(memory->release(piece));
}

}  // namespace
}  // namespace stowage::memory
