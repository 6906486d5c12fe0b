#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory/devices.hpp"

namespace stowage::memory {
namespace {

using ::testing::HasSubstr;

/// What every kind of buffer promises.
class BufferConformance : public ::testing::TestWithParam<std::string> {
 protected:
  BufferType& type() { return kind_.type(); }

  std::unique_ptr<Buffer> make(std::int64_t size) { return type().allocate(Bytes(size)).value(); }

  static std::vector<std::byte> content(const Buffer& buffer) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.size().value()));
    EXPECT_TRUE(buffer.read(Bytes(0), bytes));
    return bytes;
  }

 private:
  BufferKind kind_ = make_buffer_kind(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, BufferConformance, ::testing::ValuesIn(buffer_kinds()),
                         [](const auto& kind) { return kind.param; });

TEST_P(BufferConformance, TypeHasANameAndAnAlignment) {
  EXPECT_FALSE(type().name().empty());
  EXPECT_TRUE(is_power_of_two(type().alignment()));
}

TEST_P(BufferConformance, BufferIsAtLeastAsLargeAsAskedForAndKnowsItsType) {
  for (const std::int64_t size : {1, 63, 64, 4096, 4097, 1 << 20}) {
    const std::unique_ptr<Buffer> buffer = make(size);
    EXPECT_GE(buffer->size(), Bytes(size));
    EXPECT_NE(buffer->base(), nullptr);
    EXPECT_EQ(&buffer->type(), &type());
  }
}

TEST_P(BufferConformance, LiveBuffersDoNotOverlap) {
  const std::unique_ptr<Buffer> a = make(1000);
  const std::unique_ptr<Buffer> b = make(1000);
  const auto first = reinterpret_cast<std::uintptr_t>(a->base());
  const auto second = reinterpret_cast<std::uintptr_t>(b->base());
  EXPECT_GE(std::max(first, second) - std::min(first, second), 1000U);
}

TEST_P(BufferConformance, EmptyBufferHasNoBaseAndTakesEmptyCalls) {
  const std::unique_ptr<Buffer> buffer = make(0);
  EXPECT_EQ(buffer->base(), nullptr);
  EXPECT_EQ(buffer->size(), Bytes(0));
  EXPECT_EQ(&buffer->type(), &type());
  EXPECT_TRUE(buffer->clear());
  EXPECT_TRUE(buffer->write(Bytes(0), {}));
  EXPECT_TRUE(buffer->read(Bytes(0), {}));
  std::byte one{};
  EXPECT_FALSE(buffer->read(Bytes(0), {&one, 1}));
}

TEST_P(BufferConformance, ReadsWhatWasWritten) {
  const std::unique_ptr<Buffer> buffer = make(200'000);  // more than one chunk of the simulated memory
  const std::vector<std::byte> written = pattern(150'000);
  ASSERT_TRUE(buffer->write(Bytes(33), written));
  std::vector<std::byte> read(written.size());
  ASSERT_TRUE(buffer->read(Bytes(33), read));
  EXPECT_EQ(read, written);
}

TEST_P(BufferConformance, FillChangesItsRangeOnly) {
  const std::unique_ptr<Buffer> buffer = make(100);
  ASSERT_TRUE(buffer->clear());
  ASSERT_TRUE(buffer->fill({Bytes(10), Bytes(20)}, 0xff));
  ASSERT_TRUE(buffer->fill({Bytes(50), Bytes(50)}, 0xff));
  const std::vector<std::byte> bytes = content(*buffer);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(bytes[i], i >= 10 && i < 20 ? std::byte{0xff} : std::byte{0}) << i;
}

TEST_P(BufferConformance, ClearFillsAllOfIt) {
  const std::unique_ptr<Buffer> buffer = make(70'000);
  ASSERT_TRUE(buffer->write(Bytes(5), pattern(1000)));
  ASSERT_TRUE(buffer->clear(0x3c));
  EXPECT_THAT(content(*buffer), ::testing::Each(std::byte{0x3c}));
}

TEST_P(BufferConformance, ResetKeepsTheBytes) {
  const std::unique_ptr<Buffer> buffer = make(64);
  ASSERT_TRUE(buffer->clear(9));
  buffer->reset();
  EXPECT_THAT(content(*buffer), ::testing::Each(std::byte{9}));
}

TEST_P(BufferConformance, RangesOutsideAreRefusedAndChangeNothing) {
  const std::unique_ptr<Buffer> buffer = make(100);
  ASSERT_TRUE(buffer->clear(1));
  const std::int64_t end = buffer->size().value();
  for (const auto& [lower, upper] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {-1, 10}, {0, end + 1}, {end + 1, end + 1}, {20, 10}, {-20, -10}}) {
    const Status status = buffer->fill({Bytes(lower), Bytes(upper)}, 7);
    ASSERT_FALSE(status) << lower;
    EXPECT_EQ(status.error().code, ErrorCode::invalid);
  }
  const std::vector<std::byte> ten = pattern(10);
  std::vector<std::byte> into(10, std::byte{5});
  for (const std::int64_t offset : {std::int64_t{-1}, end - 9, end, INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(buffer->write(Bytes(offset), ten)) << offset;
    const Status status = buffer->read(Bytes(offset), into);
    ASSERT_FALSE(status) << offset;
    EXPECT_EQ(status.error().code, ErrorCode::invalid);
  }
  EXPECT_THAT(content(*buffer), ::testing::Each(std::byte{1}));
  EXPECT_THAT(into, ::testing::Each(std::byte{5}));
}

TEST_P(BufferConformance, TooMuchIsOutOfMemoryNamingTypeAndSize) {
  for (const std::int64_t size : {kMaxBytes.value() - 1, kMaxBytes.value(), INT64_MAX}) {
    const auto buffer = type().allocate(Bytes(size));
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.error().code, ErrorCode::out_of_memory);
    EXPECT_THAT(buffer.error().message, HasSubstr(std::string(type().name())));
    EXPECT_THAT(buffer.error().message, HasSubstr(std::to_string(size)));
  }
  EXPECT_TRUE(type().allocate(Bytes(100)));
}

TEST_P(BufferConformance, LargestBufferIsGrantedAndOneByteMoreIsNot) {
  const std::optional<Bytes> largest = type().max_size();
  if (!largest) return;
  EXPECT_TRUE(type().allocate(*largest));
  EXPECT_EQ(type().allocate(*largest + Bytes(1)).error().code, ErrorCode::out_of_memory);
}

TEST_P(BufferConformance, NegativeSizeIsInvalid) {
  for (const std::int64_t size : {std::int64_t{-1}, INT64_MIN}) {
    EXPECT_EQ(type().allocate(Bytes(size)).error().code, ErrorCode::invalid);
  }
}

TEST_P(BufferConformance, HostVisibleMemoryIsTheMemoryOfItsCalls) {
  if (!type().host_visible()) return;
  const std::unique_ptr<Buffer> buffer = make(64);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->base()) % static_cast<std::uintptr_t>(type().alignment().value()),
            0U);
  ASSERT_TRUE(buffer->clear(1));
  buffer->base()[63] = std::byte{2};
  EXPECT_EQ(buffer->base()[0], std::byte{1});
  EXPECT_EQ(content(*buffer)[63], std::byte{2});
}

}  // namespace
}  // namespace stowage::memory
