#include "report/base64.hpp"

#include <gtest/gtest.h>

namespace stowage::report {
namespace {

TEST(Base64, HasTheTextsOfTheRfc) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, HasAllDigits) {
  EXPECT_EQ(to_base64("\xFB\xEF\xBE\xFF\xFF\xFF"), "++++////");
  EXPECT_EQ(to_base64(std::string_view("\0\x10\x83\x10\x51\x87\x20\x92\x8B\x30\xD3\x8F", 12)), "ABCDEFGHIJKLMNOP");
}

}  // namespace
}  // namespace stowage::report
