#include "files/interface/gzip.hpp"

#include <string>

#include <gtest/gtest.h>

namespace stowage::files {
namespace {

std::string packed(std::string_view content) { return pack_gzip(content).value(); }

TEST(Gzip, UnpacksWhatItPacked) {
  std::string content;
  for (int i = 0; i < 200'000; ++i) content += std::to_string(i * 7919);
  EXPECT_EQ(unpack_gzip(packed(content)).value(), content);
  EXPECT_EQ(unpack_gzip(packed("")).value(), "");
}

TEST(Gzip, EqualContentGivesEqualBytes) { EXPECT_EQ(packed("stowage"), packed("stowage")); }

TEST(Gzip, MembersFollowEachOther) {
  EXPECT_EQ(unpack_gzip(packed("one ") + packed("") + packed("two")).value(), "one two");
}

TEST(Gzip, EveryTruncationIsAParseError) {
  const std::string whole = packed("a text that is packed");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Result<std::string> result = unpack_gzip(whole.substr(0, length));
    ASSERT_FALSE(result) << length;
    EXPECT_EQ(result.error().code, ErrorCode::parse);
    EXPECT_EQ(result.error().message, "truncated gzip: it ends early");
  }
}

TEST(Gzip, SomethingElseBehindTheEndIsAParseError) {
  for (const std::string& tail : {std::string("x"), std::string("\x1f"), std::string(4, '\0'), std::string("tail")}) {
    const Result<std::string> result = unpack_gzip(packed("text") + tail);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::parse);
    EXPECT_EQ(result.error().message, "damaged gzip: trailing data after its end");
  }
}

TEST(Gzip, ATruncatedSecondMemberIsAParseError) {
  const std::string two = packed("one") + packed("two");
  EXPECT_FALSE(unpack_gzip(two.substr(0, two.size() - 3)));
}

TEST(Gzip, AChangedByteIsAParseError) {
  std::string bytes = packed("a text that is packed");
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // in the checksum
  const Result<std::string> result = unpack_gzip(bytes);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::parse);
  EXPECT_EQ(result.error().message, "damaged gzip: incorrect data check");
}

TEST(Gzip, ContentAboveTheLimitIsRefused) {
  const std::string bomb = packed(std::string(10'000'000, 'x'));
  ASSERT_LT(bomb.size(), 20'000u);
  EXPECT_EQ(unpack_gzip(bomb, 1'000'000).error().code, ErrorCode::unsupported);
  EXPECT_EQ(unpack_gzip(bomb, 10'000'000).value().size(), 10'000'000u);
}

}  // namespace
}  // namespace stowage::files
