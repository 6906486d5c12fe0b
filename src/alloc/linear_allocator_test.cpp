#include <memory>

#include <gtest/gtest.h>

#include "stowage/alloc.hpp"

namespace stowage {
namespace {

/// A buffer type that only has an alignment.
class FakeType final : public BufferType {
 public:
  explicit FakeType(std::int64_t alignment) : alignment_(alignment) {}

  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] DeviceId device() const override { return {}; }
  [[nodiscard]] Bytes alignment() const override { return alignment_; }
  [[nodiscard]] bool host_visible() const override { return false; }
  Result<std::unique_ptr<Buffer>> allocate(Bytes) override { return Error{}; }

 private:
  Bytes alignment_;
};

/// A buffer whose addresses must not be touched.
class FakeBuffer final : public Buffer {
 public:
  FakeBuffer(std::uintptr_t base, std::int64_t size, std::int64_t alignment)
      : type_(alignment), base_(base), size_(size) {}

  [[nodiscard]] std::byte* base() const override { return reinterpret_cast<std::byte*>(base_); }
  [[nodiscard]] Bytes size() const override { return size_; }
  [[nodiscard]] const BufferType& type() const override { return type_; }
  Status fill(ByteRange, std::uint8_t) override { return Error{}; }
  Status write(Bytes, std::span<const std::byte>) override { return Error{}; }
  Status read(Bytes, std::span<std::byte>) const override { return Error{}; }

 private:
  FakeType type_;
  std::uintptr_t base_;
  Bytes size_;
};

std::optional<Bytes> at(std::int64_t offset) { return Bytes(offset); }

TEST(LinearAllocator, PlacesFollowEachOtherAligned) {
  const FakeBuffer buffer(0x1000, 256, 32);
  LinearAllocator allocator(buffer);
  EXPECT_EQ(allocator.used(), Bytes(0));
  EXPECT_EQ(allocator.remaining(), Bytes(256));
  EXPECT_EQ(allocator.allocate(Bytes(10)), at(0));
  EXPECT_EQ(allocator.allocate(Bytes(33)), at(32));
  EXPECT_EQ(allocator.allocate(Bytes(1)), at(96));
  EXPECT_EQ(allocator.used(), Bytes(97));
  EXPECT_EQ(allocator.remaining(), Bytes(128));
}

TEST(LinearAllocator, AddressesAreAlignedWhateverTheBase) {
  for (const std::int64_t alignment : {1, 16, 32, 256, 4096}) {
    for (std::uintptr_t base = 0x10000; base < 0x10000 + 300; ++base) {
      const FakeBuffer buffer(base, 20000, alignment);
      LinearAllocator allocator(buffer);
      Bytes end(0);
      for (const std::int64_t size : {1, 100, 32, 257}) {
        const std::optional<Bytes> offset = allocator.allocate(Bytes(size));
        ASSERT_TRUE(offset);
        EXPECT_EQ((base + static_cast<std::uintptr_t>(offset->value())) % static_cast<std::uintptr_t>(alignment), 0U);
        EXPECT_GE(*offset, end);
        EXPECT_LT(*offset, end + Bytes(alignment));
        end = *offset + Bytes(size);
        EXPECT_EQ(allocator.used(), end);
      }
    }
  }
}

TEST(LinearAllocator, TheFirstOffsetAccountsForAnUnalignedBase) {
  const FakeBuffer buffer(0x1001, 256, 32);
  LinearAllocator allocator(buffer);
  EXPECT_EQ(allocator.remaining(), Bytes(225));
  EXPECT_EQ(allocator.allocate(Bytes(32)), at(31));
  EXPECT_EQ(allocator.allocate(Bytes(32)), at(63));
}

TEST(LinearAllocator, ExhaustionLeavesStateUnchangedAndSaysHowMuchIsMissing) {
  const FakeBuffer buffer(0x1000, 100, 32);
  LinearAllocator allocator(buffer);
  EXPECT_EQ(allocator.allocate(Bytes(40)), at(0));
  EXPECT_EQ(allocator.missing(Bytes(37)), Bytes(1));
  EXPECT_EQ(allocator.allocate(Bytes(37)), std::nullopt);
  EXPECT_EQ(allocator.missing(Bytes(1000)), Bytes(964));
  EXPECT_EQ(allocator.allocate(Bytes(1000)), std::nullopt);
  EXPECT_EQ(allocator.used(), Bytes(40));
  EXPECT_EQ(allocator.remaining(), Bytes(36));
  EXPECT_EQ(allocator.allocate(Bytes(36)), at(64)) << "the last place may fill the buffer";
  EXPECT_EQ(allocator.remaining(), Bytes(0));
}

TEST(LinearAllocator, AsMuchAsWasMissingMoreIsEnough) {
  for (std::int64_t size = 0; size < 200; ++size) {
    const FakeBuffer small(0x1007, size, 64);
    LinearAllocator first(small);
    (void)first.allocate(Bytes(70));
    const Bytes missing = first.missing(Bytes(50));
    if (first.allocate(Bytes(50))) continue;
    for (const bool enough : {false, true}) {
      const FakeBuffer larger(0x1007, size + missing.value() - (enough ? 0 : 1), 64);
      LinearAllocator second(larger);
      if (first.used() > Bytes(0)) (void)second.allocate(Bytes(70));
      EXPECT_EQ(second.allocate(Bytes(50)).has_value(), enough) << size;
    }
  }
}

TEST(LinearAllocator, ABufferSmallerThanTheGapOfItsBaseHoldsNothing) {
  const FakeBuffer buffer(0x1001, 20, 32);
  LinearAllocator allocator(buffer);
  EXPECT_EQ(allocator.remaining(), Bytes(0));
  EXPECT_EQ(allocator.missing(Bytes(1)), Bytes(12));
  EXPECT_EQ(allocator.allocate(Bytes(1)), std::nullopt);
  EXPECT_EQ(allocator.used(), Bytes(0));
}

TEST(LinearAllocator, SizeZeroTakesNothingAndNeverFails) {
  const FakeBuffer buffer(0x1000, 40, 32);
  LinearAllocator allocator(buffer);
  EXPECT_EQ(allocator.allocate(Bytes(0)), at(0));
  EXPECT_EQ(allocator.allocate(Bytes(8)), at(0));
  EXPECT_EQ(allocator.allocate(Bytes(0)), at(32));
  EXPECT_EQ(allocator.allocate(Bytes(8)), at(32));
  EXPECT_EQ(allocator.allocate(Bytes(0)), at(40)) << "the end: no aligned address is left";
  const FakeBuffer empty(0, 0, 32);
  LinearAllocator nothing(empty);
  EXPECT_EQ(nothing.allocate(Bytes(0)), at(0));
  EXPECT_EQ(nothing.missing(Bytes(5)), Bytes(5));
  EXPECT_EQ(nothing.allocate(Bytes(5)), std::nullopt);
}

TEST(LinearAllocator, TheLargestSizesDoNotOverflow) {
  const std::int64_t max = kMaxBytes.value();
  const FakeBuffer buffer(1, max, max);
  LinearAllocator allocator(buffer);
  EXPECT_EQ(allocator.remaining(), Bytes(1));
  EXPECT_EQ(allocator.missing(kMaxBytes), Bytes(max - 1));
  EXPECT_EQ(allocator.allocate(kMaxBytes), std::nullopt);
  EXPECT_EQ(allocator.allocate(Bytes(1)), at(max - 1));
  EXPECT_EQ(allocator.missing(kMaxBytes), Bytes(max + (max - 1)));
  EXPECT_EQ(allocator.allocate(kMaxBytes), std::nullopt);
}

TEST(LinearAllocator, ACopyReturnsToAnEarlierState) {
  const FakeBuffer buffer(0x1000, 256, 32);
  LinearAllocator allocator(buffer);
  (void)allocator.allocate(Bytes(10));
  const LinearAllocator before = allocator;
  EXPECT_EQ(allocator.allocate(Bytes(64)), at(32));
  allocator = before;
  EXPECT_EQ(allocator.allocate(Bytes(8)), at(32));
  EXPECT_EQ(&allocator.buffer(), &buffer);
}

}  // namespace
}  // namespace stowage
