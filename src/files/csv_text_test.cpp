#include "files/interface/csv_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::files {
namespace {

using testing::ElementsAre;

TEST(CsvText, FieldsAreSplitAtCommasOutsideQuotes) {
  std::vector<std::string_view> fields;
  ASSERT_TRUE(split_fields(R"(a, "b,""c""" ,)", fields));
  ASSERT_THAT(fields, ElementsAre("a", R"( "b,""c""" )", ""));
  EXPECT_EQ(text_of(fields[1]), R"(b,"c")");
  EXPECT_EQ(content_of(fields[1]), R"(b,""c"")");
}

TEST(CsvText, AQuoteThatIsNotClosedIsRefused) {
  std::vector<std::string_view> fields;
  EXPECT_FALSE(split_fields(R"(a,"b)", fields));
  EXPECT_FALSE(split_fields(R"(a,"b"")", fields));
}

TEST(CsvText, LinesEndWithOrWithoutCarriageReturn) {
  std::string_view text = "a\r\nb\n\nc";
  EXPECT_EQ(next_line(text), "a");
  EXPECT_EQ(next_line(text), "b");
  EXPECT_EQ(next_line(text), "");
  EXPECT_EQ(next_line(text), "c");
  EXPECT_TRUE(text.empty());
}

TEST(CsvText, IntegersAreWholeFieldsThatFit) {
  EXPECT_EQ(parse_integer("-7"), -7);
  for (const char* text : {"", "7 ", "+7", "0x7", "7.0", "9223372036854775808"})
    EXPECT_FALSE(parse_integer(text)) << text;
}

TEST(CsvText, TheByteOrderMarkIsCutOff) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBF"
                                    "id"),
            "id");
  EXPECT_EQ(without_byte_order_mark("id"), "id");
}

}  // namespace
}  // namespace stowage::files
