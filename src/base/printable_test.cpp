#include "stowage/base/printable.hpp"

#include <gtest/gtest.h>

namespace stowage {
namespace {

TEST(Printable, OrdinaryTextIsUnchanged) {
  for (const char* text : {"", "layers.0.attn/q:0", "naïve", "\xE5\xB1\xA4", "\xF0\x9F\x93\xA6", "a\\b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1B[31mb\x07"), "a\\u001b[31mb\\u0007");
  EXPECT_EQ(printable("a\r\n\tb"), "a\\u000d\\u000a\\u0009b");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(printable("\x7F"), "\\u007f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\u009b");  // CSI in one character
}

TEST(Printable, LinesStayLinesIfWanted) { EXPECT_EQ(printable_lines("a\n\x1B\nb"), "a\n\\u001b\nb"); }

TEST(Printable, CharactersThatTurnTextAroundAreEscaped) {
  EXPECT_EQ(printable("\xE2\x80\xAEtxt\xE2\x80\xAC"), "\\u202etxt\\u202c");
  EXPECT_EQ(printable("\xE2\x81\xA6"), "\\u2066");
  EXPECT_EQ(printable("\xD8\x9C"), "\\u061c");
  EXPECT_EQ(printable("\xE2\x80\xA8"), "\\u2028");
}

TEST(Printable, InvalidBytesAreReplaced) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(printable("a\xFF\x80z"), "a" + mark + mark + "z");
  EXPECT_EQ(printable("\xC0\xAF"), mark + mark);             // overlong
  EXPECT_EQ(printable("\xE2\x80"), mark + mark);             // cut off
  EXPECT_EQ(printable("\xED\xA0\x80"), mark + mark + mark);  // a surrogate
}

}  // namespace
}  // namespace stowage
