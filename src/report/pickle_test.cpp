#include "report/pickle.hpp"

#include <gtest/gtest.h>

/// Byte for byte what Python's pickletools shows for these values; tests/cli/report_test.py reads whole files with
/// Python.
namespace stowage::report {
namespace {

using namespace std::string_literals;

template <class Write>
std::string pickled(Write write) {
  PickleWriter out;
  write(out);
  const std::string text = std::move(out).take();
  EXPECT_EQ(text.substr(0, 2), "\x80\x04");
  EXPECT_EQ(text.back(), '.');
  return text.substr(2, text.size() - 3);
}

TEST(Pickle, IntegersTakeAsManyBytesAsTheyNeed) {
  const auto integer = [](std::int64_t value) { return pickled([&](PickleWriter& out) { out.integer(value); }); };
  EXPECT_EQ(integer(0), "K\x00"s);
  EXPECT_EQ(integer(255), "K\xff");
  EXPECT_EQ(integer(256), "J\x00\x01\x00\x00"s);
  EXPECT_EQ(integer(-1), "J\xff\xff\xff\xff");
  EXPECT_EQ(integer(std::int64_t{1} << 40), "\x8a\x08\x00\x00\x00\x00\x00\x01\x00\x00"s);
  EXPECT_EQ(integer(-(std::int64_t{1} << 40)), "\x8a\x08\x00\x00\x00\x00\x00\xff\xff\xff"s);
}

TEST(Pickle, TextIsAlwaysUtf8) {
  const auto text = [](std::string_view value) { return pickled([&](PickleWriter& out) { out.text(value); }); };
  EXPECT_EQ(text("ab"),
            "\x8c\x02"
            "ab");
  EXPECT_EQ(text("\xc3\xa4"), "\x8c\x02\xc3\xa4");
  EXPECT_EQ(text("\xff"
                 "a\xc3"),
            "\x8c\x03?a?");
  EXPECT_EQ(text("\xed\xa0\x80"), "\x8c\x03???");
  EXPECT_EQ(text(std::string(300, 'x')).substr(0, 5), "X\x2c\x01\x00\x00"s);
}

TEST(Pickle, LongListsAreWrittenInBatches) {
  const std::string list = pickled([](PickleWriter& out) { out.list(1001, [&](std::size_t) { out.none(); }); });
  EXPECT_EQ(list, "](" + std::string(1000, 'N') + "e(Ne");
  EXPECT_EQ(pickled([](PickleWriter& out) { out.list(0, [](std::size_t) {}); }), "]");
}

TEST(Pickle, DictsHoldKeysAndValues) {
  const std::string dict = pickled([](PickleWriter& out) {
    out.dict([&] {
      out.key("a");
      out.boolean(true);
      out.key("b");
      out.pair(1, 2);
    });
  });
  EXPECT_EQ(dict,
            "}(\x8c\x01"
            "a\x88\x8c\x01"
            "bK\x01K\x02\x86u");
}

}  // namespace
}  // namespace stowage::report
