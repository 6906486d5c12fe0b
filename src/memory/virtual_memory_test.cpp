#include <gtest/gtest.h>

#include "support/memory/devices.hpp"

namespace stowage::memory {
namespace {

/// What the virtual memory of every backend promises. Bytes are written and read with the device's copies, since not
/// every device's memory is host-visible. One page is one granule.
class VirtualMemoryConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (device().virtual_memory() == nullptr) GTEST_SKIP() << "this system has no virtual memory for " << GetParam();
  }

  Device& device() { return kind_.device(); }
  VirtualMemory& memory() { return *device().virtual_memory(); }
  Bytes pages(std::int64_t count) { return Bytes(memory().granularity().value() * count); }
  std::byte* page(std::byte* base, std::int64_t number) { return base + pages(number).value(); }

  std::byte* reserve(std::int64_t count) { return memory().reserve(pages(count)).value(); }
  PhysicalId create(std::int64_t count) { return memory().create(pages(count)).value(); }

  void write(std::byte* address, std::uint32_t value) {
    ASSERT_TRUE(device().copy(StreamId(0), address, reinterpret_cast<std::byte*>(&value), Bytes(4)));
    ASSERT_TRUE(device().synchronize(StreamId(0)));
  }
  std::uint32_t read(const std::byte* address) {
    std::uint32_t value = 0xdead;
    EXPECT_TRUE(device().copy(StreamId(0), reinterpret_cast<std::byte*>(&value), address, Bytes(4)));
    EXPECT_TRUE(device().synchronize(StreamId(0)));
    return value;
  }

  static void expect_invalid(const Status& status) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::invalid) << status.error().message;
  }

 private:
  DeviceKind kind_ = make_device_kind(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Devices, VirtualMemoryConformance, ::testing::ValuesIn(device_kinds()),
                         [](const auto& kind) { return kind.param; });

TEST_P(VirtualMemoryConformance, GranularityIsAPowerOfTwoAndReservationsAreAligned) {
  EXPECT_TRUE(is_power_of_two(memory().granularity()));
  EXPECT_EQ(memory().device(), device().id());
  std::byte* const base = reserve(3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % static_cast<std::uintptr_t>(memory().granularity().value()), 0U);
  EXPECT_TRUE(memory().free(base, pages(3)));
}

TEST_P(VirtualMemoryConformance, MappedMemoryKeepsWhatIsWritten) {
  std::byte* const base = reserve(2);
  const PhysicalId physical = create(2);
  ASSERT_TRUE(memory().map(base, physical, Bytes(0), pages(2)));
  write(base, 16);
  write(page(base, 2) - 4, 17);
  EXPECT_EQ(read(base), 16U);
  EXPECT_EQ(read(page(base, 2) - 4), 17U);
  EXPECT_TRUE(memory().unmap(base, pages(2)));
  EXPECT_TRUE(memory().release(physical));
  EXPECT_TRUE(memory().free(base, pages(2)));
}

TEST_P(VirtualMemoryConformance, OnePageAtTwoAddressesHasTheSameBytes) {
  std::byte* const base = reserve(4);
  const PhysicalId other = create(1);
  const PhysicalId shared = create(1);
  ASSERT_TRUE(memory().map(base, other, Bytes(0), pages(1)));
  ASSERT_TRUE(memory().map(page(base, 1), shared, Bytes(0), pages(1)));
  ASSERT_TRUE(memory().map(page(base, 3), shared, Bytes(0), pages(1)));
  write(base, 4);
  write(page(base, 1), 5);
  EXPECT_EQ(read(page(base, 3)), 5U);
  write(page(base, 3), 6);
  EXPECT_EQ(read(page(base, 1)), 6U);
  EXPECT_EQ(read(base), 4U);
  ASSERT_TRUE(memory().unmap(base, pages(2)));
  EXPECT_EQ(read(page(base, 3)), 6U);
  ASSERT_TRUE(memory().unmap(page(base, 3), pages(1)));
  EXPECT_TRUE(memory().release(other));
  EXPECT_TRUE(memory().release(shared));
  EXPECT_TRUE(memory().free(base, pages(4)));
}

TEST_P(VirtualMemoryConformance, APartOfPhysicalMemoryIsMappedOrUnsupported) {
  std::byte* const base = reserve(3);
  const PhysicalId physical = create(2);
  ASSERT_TRUE(memory().map(base, physical, Bytes(0), pages(2)));
  write(page(base, 1), 5);
  for (const std::int64_t first : {1, 0}) {
    const Status part = memory().map(page(base, 2), physical, pages(first), pages(1));
    ASSERT_EQ(part.has_value(), memory().maps_parts());
    if (!part) {
      EXPECT_EQ(part.error().code, ErrorCode::unsupported);
      EXPECT_EQ(
          memory().map_all(page(base, 2), std::vector<PhysicalRange>{{physical, pages(first), pages(1)}}).error().code,
          ErrorCode::unsupported);
      continue;
    }
    write(base, 4);
    EXPECT_EQ(read(page(base, 2)), first == 1 ? 5U : 4U);
    ASSERT_TRUE(memory().unmap(page(base, 2), pages(1)));
  }
  EXPECT_TRUE(memory().unmap(base, pages(2)));
  EXPECT_TRUE(memory().release(physical));
  EXPECT_TRUE(memory().free(base, pages(3)));
}

TEST_P(VirtualMemoryConformance, BytesSurviveAMoveToAnotherAddress) {
  std::byte* const base = reserve(2);
  const PhysicalId physical = create(1);
  ASSERT_TRUE(memory().map(base, physical, Bytes(0), pages(1)));
  write(base, 99);
  ASSERT_TRUE(memory().unmap(base, pages(1)));
  ASSERT_TRUE(memory().map(page(base, 1), physical, Bytes(0), pages(1)));
  EXPECT_EQ(read(page(base, 1)), 99U);
  ASSERT_TRUE(memory().unmap(page(base, 1), pages(1)));
  EXPECT_TRUE(memory().release(physical));
  EXPECT_TRUE(memory().free(base, pages(2)));
}

TEST_P(VirtualMemoryConformance, ReleaseOfMappedMemoryTakesEffectAfterTheLastUnmap) {
  std::byte* const base = reserve(2);
  const PhysicalId physical = create(1);
  ASSERT_TRUE(memory().map(base, physical, Bytes(0), pages(1)));
  ASSERT_TRUE(memory().map(page(base, 1), physical, Bytes(0), pages(1)));
  write(base, 7);
  ASSERT_TRUE(memory().release(physical));
  EXPECT_EQ(read(page(base, 1)), 7U);
  ASSERT_TRUE(memory().unmap(base, pages(1)));
  EXPECT_EQ(read(page(base, 1)), 7U);
  expect_invalid(memory().release(physical));
  expect_invalid(memory().map(base, physical, Bytes(0), pages(1)));
  ASSERT_TRUE(memory().unmap(page(base, 1), pages(1)));
  EXPECT_TRUE(memory().free(base, pages(2)));
}

TEST_P(VirtualMemoryConformance, AnAddressCanBeMappedAgainAndAgain) {
  std::byte* const base = reserve(1);
  for (std::uint32_t round = 1; round <= 3; ++round) {
    const PhysicalId physical = create(1);
    ASSERT_TRUE(memory().map(base, physical, Bytes(0), pages(1)));
    write(base, round);
    EXPECT_EQ(read(base), round);
    ASSERT_TRUE(memory().unmap(base, pages(1)));
    ASSERT_TRUE(memory().release(physical));
  }
  EXPECT_TRUE(memory().free(base, pages(1)));
}

TEST_P(VirtualMemoryConformance, UnmapTakesSeveralWholeMappingsAtOnce) {
  std::byte* const base = reserve(3);
  const PhysicalId a = create(1);
  const PhysicalId b = create(2);
  ASSERT_TRUE(memory().map(base, a, Bytes(0), pages(1)));
  ASSERT_TRUE(memory().map(page(base, 1), b, Bytes(0), pages(2)));
  EXPECT_TRUE(memory().unmap(base, pages(3)));
  EXPECT_TRUE(memory().release(a));
  EXPECT_TRUE(memory().release(b));
  EXPECT_TRUE(memory().free(base, pages(3)));
}

TEST_P(VirtualMemoryConformance, CopyCrossesMappingsThatTouch) {
  std::byte* const base = reserve(2);
  const PhysicalId a = create(1);
  const PhysicalId b = create(1);
  ASSERT_TRUE(memory().map(base, b, Bytes(0), pages(1)));
  ASSERT_TRUE(memory().map(page(base, 1), a, Bytes(0), pages(1)));
  write(page(base, 1) - 2, 0x04030201);
  EXPECT_EQ(read(page(base, 1) - 2), 0x04030201U);
  EXPECT_EQ(read(page(base, 1)) & 0xffffU, 0x0403U);
  ASSERT_TRUE(memory().unmap(base, pages(2)));
  EXPECT_TRUE(memory().release(a));
  EXPECT_TRUE(memory().release(b));
  EXPECT_TRUE(memory().free(base, pages(2)));
}

TEST_P(VirtualMemoryConformance, MapAllLaysRangesOneBehindTheOther) {
  std::byte* const base = reserve(5);
  const PhysicalId a = create(1);
  const PhysicalId b = create(2);
  const std::vector<PhysicalRange> ranges = {{b, Bytes(0), pages(2)}, {a, Bytes(0), pages(1)}, {a, Bytes(0), pages(1)}};
  ASSERT_TRUE(memory().map_all(page(base, 1), ranges));
  for (std::uint32_t i = 1; i <= 3; ++i) write(page(base, i), i);
  EXPECT_EQ(read(page(base, 1)), 1U);
  EXPECT_EQ(read(page(base, 2)), 2U);
  EXPECT_EQ(read(page(base, 4)), 3U);                    // the same page as the third
  ASSERT_TRUE(memory().unmap(page(base, 3), pages(1)));  // each range has its own mapping
  ASSERT_TRUE(memory().unmap(page(base, 1), pages(2)));
  ASSERT_TRUE(memory().unmap(page(base, 4), pages(1)));
  EXPECT_TRUE(memory().release(a));
  EXPECT_TRUE(memory().release(b));
  EXPECT_TRUE(memory().free(base, pages(5)));
}

TEST_P(VirtualMemoryConformance, MapAllOfNothingIsNothingToDo) { EXPECT_TRUE(memory().map_all(nullptr, {})); }

TEST_P(VirtualMemoryConformance, SizesThatAreNoMultiplesAreInvalid) {
  for (const Bytes size : {Bytes(0), Bytes(-1), pages(-1), pages(1) + Bytes(1), pages(1) - Bytes(1)}) {
    EXPECT_EQ(memory().reserve(size).error().code, ErrorCode::invalid) << size.value();
    EXPECT_EQ(memory().create(size).error().code, ErrorCode::invalid) << size.value();
  }
}

TEST_P(VirtualMemoryConformance, MoreThanThereCanBeIsOutOfMemory) {
  const Bytes too_much(INT64_MAX - INT64_MAX % memory().granularity().value());
  EXPECT_EQ(memory().reserve(kMaxBytes).error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(memory().reserve(too_much).error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(memory().create(too_much).error().code, ErrorCode::out_of_memory);
}

/// Two mapped pages in a reservation of four, [., M, N, .], and memory that is mapped nowhere.
class VirtualMemoryMisuse : public VirtualMemoryConformance {
 protected:
  void SetUp() override {
    VirtualMemoryConformance::SetUp();
    if (IsSkipped()) return;
    base_ = reserve(4);
    other_ = reserve(1);
    mapped_ = create(1);
    neighbour_ = create(1);
    spare_ = create(1);
    ASSERT_TRUE(memory().map(page(base_, 1), mapped_, Bytes(0), pages(1)));
    ASSERT_TRUE(memory().map(page(base_, 2), neighbour_, Bytes(0), pages(1)));
    write(page(base_, 1), 11);
    write(page(base_, 2), 22);
  }

  /// Checks that everything is still as SetUp left it, then frees it in the ordinary way.
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(read(page(base_, 1)), 11U);
    EXPECT_EQ(read(page(base_, 2)), 22U);
    ASSERT_TRUE(memory().map(base_, spare_, Bytes(0), pages(1)));
    ASSERT_TRUE(memory().map(page(base_, 3), spare_, Bytes(0), pages(1)));
    EXPECT_TRUE(memory().unmap(base_, pages(4)));
    EXPECT_TRUE(memory().release(mapped_));
    EXPECT_TRUE(memory().release(neighbour_));
    EXPECT_TRUE(memory().release(spare_));
    EXPECT_TRUE(memory().free(base_, pages(4)));
    EXPECT_TRUE(memory().free(other_, pages(1)));
  }

  std::byte* base_ = nullptr;
  std::byte* other_ = nullptr;
  PhysicalId mapped_{};
  PhysicalId neighbour_{};
  PhysicalId spare_{};
};

INSTANTIATE_TEST_SUITE_P(Devices, VirtualMemoryMisuse, ::testing::ValuesIn(device_kinds()),
                         [](const auto& kind) { return kind.param; });

TEST_P(VirtualMemoryMisuse, UnalignedMapIsRefused) {
  expect_invalid(memory().map(base_ + 1, spare_, Bytes(0), pages(1)));
  expect_invalid(memory().map(base_, spare_, Bytes(1), pages(1)));
  expect_invalid(memory().map(base_, spare_, Bytes(0), pages(1) - Bytes(1)));
  expect_invalid(memory().map(base_, spare_, Bytes(0), Bytes(0)));
}

TEST_P(VirtualMemoryMisuse, MapOutsideOfAReservationIsRefused) {
  const PhysicalId two = create(2);
  expect_invalid(memory().map(page(base_, -1), two, Bytes(0), pages(2)));
  expect_invalid(memory().map(page(base_, 3), two, Bytes(0), pages(2)));
  expect_invalid(memory().map(nullptr, spare_, Bytes(0), pages(1)));
  expect_invalid(memory().map(reinterpret_cast<std::byte*>(~std::uintptr_t{0}), spare_, Bytes(0), pages(1)));
  EXPECT_TRUE(memory().release(two));
}

TEST_P(VirtualMemoryMisuse, MapOverAMappingIsRefused) {
  const PhysicalId two = create(2);
  const PhysicalId four = create(4);
  expect_invalid(memory().map(page(base_, 1), spare_, Bytes(0), pages(1)));
  expect_invalid(memory().map(base_, two, Bytes(0), pages(2)));
  expect_invalid(memory().map(page(base_, 2), two, Bytes(0), pages(2)));
  expect_invalid(memory().map(base_, four, Bytes(0), pages(4)));
  EXPECT_TRUE(memory().release(two));
  EXPECT_TRUE(memory().release(four));
}

TEST_P(VirtualMemoryMisuse, MapBeyondThePhysicalMemoryIsRefused) {
  expect_invalid(memory().map(base_, spare_, pages(1), pages(1)));
  expect_invalid(memory().map(base_, spare_, pages(-1), pages(1)));
  expect_invalid(memory().map(other_, spare_, Bytes(0), pages(2)));
  expect_invalid(memory().map(base_, spare_, Bytes(INT64_MAX - INT64_MAX % pages(1).value()), pages(1)));
}

TEST_P(VirtualMemoryMisuse, MapAllMapsNothingWhenOneRangeIsRefused) {
  const PhysicalRange good{spare_, Bytes(0), pages(1)};
  const std::vector<std::vector<PhysicalRange>> bad = {
      {good, good},  // the second overlaps a mapping
      {good, {PhysicalId{0}, Bytes(0), pages(1)}},
      {good, {spare_, Bytes(0), Bytes(0)}},
      {good, {spare_, Bytes(0), Bytes(INT64_MAX)}},
      {good, {spare_, pages(1), pages(1)}},
  };
  for (const auto& ranges : bad) expect_invalid(memory().map_all(base_, ranges));
  const std::vector<PhysicalRange> beyond = {good, good};  // the second lies beyond the reservation
  expect_invalid(memory().map_all(page(base_, 3), beyond));
}

TEST_P(VirtualMemoryMisuse, UnknownPhysicalMemoryIsRefused) {
  expect_invalid(memory().map(base_, PhysicalId{0}, Bytes(0), pages(1)));
  expect_invalid(memory().release(PhysicalId{0}));
  expect_invalid(memory().release(PhysicalId{~std::uint64_t{0}}));
}

TEST_P(VirtualMemoryMisuse, UnmapOfAnythingButWholeMappingsIsRefused) {
  expect_invalid(memory().unmap(base_, pages(1)));
  expect_invalid(memory().unmap(base_, pages(2)));
  expect_invalid(memory().unmap(page(base_, 1), pages(3)));
  expect_invalid(memory().unmap(page(base_, 1), pages(1) - Bytes(1)));
  expect_invalid(memory().unmap(page(base_, 1) + 1, pages(1)));
  expect_invalid(memory().unmap(page(base_, 1), Bytes(0)));
  expect_invalid(memory().unmap(nullptr, pages(1)));
}

TEST_P(VirtualMemoryMisuse, UnmapOfHalfAMappingIsRefused) {
  const PhysicalId two = create(2);
  std::byte* const range = reserve(2);
  ASSERT_TRUE(memory().map(range, two, Bytes(0), pages(2)));
  expect_invalid(memory().unmap(range, pages(1)));
  expect_invalid(memory().unmap(page(range, 1), pages(1)));
  write(page(range, 1), 3);
  EXPECT_EQ(read(page(range, 1)), 3U);
  EXPECT_TRUE(memory().unmap(range, pages(2)));
  EXPECT_TRUE(memory().release(two));
  EXPECT_TRUE(memory().free(range, pages(2)));
}

TEST_P(VirtualMemoryMisuse, FreeOfAnythingButAWholeUnmappedReservationIsRefused) {
  expect_invalid(memory().free(base_, pages(4)));
  expect_invalid(memory().free(base_, pages(1)));
  expect_invalid(memory().free(page(base_, 3), pages(1)));
  expect_invalid(memory().free(other_, pages(2)));
  expect_invalid(memory().free(nullptr, pages(1)));
}

TEST_P(VirtualMemoryMisuse, SecondFreeReleaseAndUnmapAreRefused) {
  const PhysicalId physical = create(1);
  std::byte* const range = reserve(1);
  ASSERT_TRUE(memory().map(range, physical, Bytes(0), pages(1)));
  ASSERT_TRUE(memory().unmap(range, pages(1)));
  expect_invalid(memory().unmap(range, pages(1)));
  ASSERT_TRUE(memory().release(physical));
  expect_invalid(memory().release(physical));
  ASSERT_TRUE(memory().free(range, pages(1)));
  expect_invalid(memory().free(range, pages(1)));
  expect_invalid(memory().map(range, spare_, Bytes(0), pages(1)));
}

}  // namespace
}  // namespace stowage::memory
