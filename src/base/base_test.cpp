#include "stowage/base.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace stowage {
namespace {

TEST(Bytes, HumanFormHasThreeDigitsInBinaryUnits) {
  EXPECT_EQ(to_human(Bytes(0)), "0 B");
  EXPECT_EQ(to_human(Bytes(1023)), "1023 B");
  EXPECT_EQ(to_human(Bytes(1024)), "1.00 KiB");
  EXPECT_EQ(to_human(Bytes(1536)), "1.50 KiB");
  EXPECT_EQ(to_human(Bytes(1024 * 1023)), "1.00 MiB");
  EXPECT_EQ(to_human(Bytes(188753920)), "180 MiB");
  EXPECT_EQ(to_human(kMaxBytes), "4.00 EiB");
}

TEST(Bytes, ParsesCountsWithAndWithoutUnits) {
  EXPECT_EQ(parse_bytes("4096"), Bytes(4096));
  EXPECT_EQ(parse_bytes("64KiB"), Bytes(65536));
  EXPECT_EQ(parse_bytes("64k"), Bytes(65536));
  EXPECT_EQ(parse_bytes("1.5 MiB"), Bytes(1572864));
  EXPECT_EQ(parse_bytes("2GB"), Bytes(2'000'000'000));
}

TEST(Bytes, RefusesWhatIsNotACount) {
  for (const char* text : {"", "MiB", "-1", "1.5", "1x", "1..5", "1e3", "0x10", "4611686018427387905", "5000000TiB",
                           "99999999999999999999"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Bytes, SumsStopAtTheLimit) {
  EXPECT_EQ(add_within_limit(Bytes(1), Bytes(2)), Bytes(3));
  EXPECT_EQ(add_within_limit(kMaxBytes, Bytes(0)), kMaxBytes);
  EXPECT_EQ(add_within_limit(kMaxBytes, Bytes(1)), std::nullopt);
}

TEST(Bytes, AlignsUpToPowersOfTwo) {
  EXPECT_EQ(align_up(Bytes(0), Bytes(32)), Bytes(0));
  EXPECT_EQ(align_up(Bytes(33), Bytes(32)), Bytes(64));
  EXPECT_TRUE(is_aligned(Bytes(64), Bytes(32)));
  EXPECT_FALSE(is_aligned(Bytes(65), Bytes(32)));
  EXPECT_TRUE(is_power_of_two(Bytes(1)));
  EXPECT_FALSE(is_power_of_two(Bytes(0)));
  EXPECT_FALSE(is_power_of_two(Bytes(96)));
}

TEST(Range, IsHalfOpen) {
  const Interval life{Step(2), Step(5)};
  EXPECT_TRUE(life.contains(Step(2)));
  EXPECT_FALSE(life.contains(Step(5)));
  EXPECT_TRUE(life.overlaps({Step(4), Step(9)}));
  EXPECT_FALSE(life.overlaps({Step(5), Step(9)}));
  EXPECT_FALSE(life.overlaps({Step(3), Step(3)}));
}

TEST(Error, TextNamesFileLineAndPath) {
  EXPECT_EQ(to_string(Error{ErrorCode::parse, "bad", {.file = "m.json", .line = 12, .path = "tensors[3].size"}}),
            "m.json:12: tensors[3].size: bad");
  EXPECT_EQ(to_string(Error{ErrorCode::parse, "bad", {}}), "bad");
  EXPECT_EQ(to_string(Error{ErrorCode::parse, "bad", {.file = "-", .line = {}, .path = {}}}), "-: bad");
}

TEST(Error, EveryCodeHasAName) {
  EXPECT_EQ(to_string(ErrorCode::io), "io");
  EXPECT_EQ(to_string(ErrorCode::out_of_memory), "out_of_memory");
  EXPECT_EQ(to_string(ErrorCode::not_reserved), "not_reserved");
  EXPECT_EQ(to_string(ErrorCode::device), "device");
}

Result<int> half(int value) {
  if (value % 2 != 0) return Error{ErrorCode::invalid, "odd", {}};
  return value / 2;
}

Result<int> quarter(int value) {
  STOWAGE_TRY(const int once, half(value));
  return half(once);
}

TEST(Result, TryPassesErrorsOn) {
  EXPECT_EQ(*quarter(8), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Result, MovesTheValueOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 3);
}

TEST(ResultDeathTest, ReadingTheAbsentSideAborts) {
  const Result<int> failed = half(1);
  EXPECT_DEATH((void)failed.value(), "holds an error");
}

}  // namespace
}  // namespace stowage
