#include "terminal.hpp"

#include <gtest/gtest.h>

namespace stowage::cli {
namespace {

TEST(Fitted, LinesThatFitStay) {
  EXPECT_EQ(fitted("", 20), "");
  EXPECT_EQ(fitted("twenty columns, not 1\n\nb\n", 21), "twenty columns, not 1\n\nb\n");
}

TEST(Fitted, LongLinesBreakBetweenWords) {
  EXPECT_EQ(fitted("  peak   128   smallest possible\nb", 24), "  peak   128   smallest\n      possible\nb");
  EXPECT_EQ(fitted("a bb ccc dddd eeeee ffffff ggggggg", 20), "a bb ccc dddd eeeee\n    ffffff ggggggg");
}

TEST(Fitted, CharactersCountNotBytes) { EXPECT_EQ(fitted("äöü äöü äöü äöü äöü.", 20), "äöü äöü äöü äöü äöü."); }

TEST(Fitted, ColourCodesTakeNoColumn) {
  EXPECT_EQ(fitted("\033[1mtwenty\033[0m columns, not 1\n", 21), "\033[1mtwenty\033[0m columns, not 1\n");
  EXPECT_EQ(fitted("a bb ccc \033[32mdddd\033[0m eeeee ffffff", 20), "a bb ccc \033[32mdddd\033[0m eeeee\n    ffffff");
}

TEST(Fitted, WordsThatAreTooLongStayWhole) {
  const std::string word(40, 'x');
  EXPECT_EQ(fitted(word, 20), word);
  EXPECT_EQ(fitted("a " + word + " b", 20), "a\n    " + word + "\n    b");
}

TEST(Fitted, PicturesStay) {
  const std::string line = "     100 KiB|............E.......... ";
  EXPECT_EQ(fitted(line, 20), line);
}

TEST(Cut, KeepsWholeCharacters) {
  EXPECT_EQ(cut("äöü", 2), "äö");
  EXPECT_EQ(cut("abc", 5), "abc");
}

}  // namespace
}  // namespace stowage::cli
