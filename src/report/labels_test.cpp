#include "report/labels.hpp"

#include <gtest/gtest.h>

#include "report/text.hpp"

namespace stowage::report {
namespace {

TEST(Labels, ScopeIsWhatComesBeforeTheLastPartOfAName) {
  EXPECT_EQ(scope_of("layers/3/attn/q"), "layers/3/attn");
  EXPECT_EQ(scope_of("blk.0.out"), "blk.0");
  EXPECT_EQ(scope_of("ffn_gate-3"), "*-3");
  EXPECT_EQ(scope_of("Kcur-3 (view)"), "*-3");
  EXPECT_EQ(scope_of("x"), "");
  EXPECT_EQ(scope_of("x-"), "");
  EXPECT_EQ(scope_of("self-attn"), "");
  EXPECT_EQ(scope_of("/x"), "");
  EXPECT_EQ(scope_of(""), "");
}

TEST(Labels, TheLayerIsWhatTheOpStatesOrElseTheScope) {
  Op op{.name = "blk.0.relu", .kind = "Relu"};
  EXPECT_EQ(layer_of(op), "blk.0");
  op.layer = "encoder.1";
  EXPECT_EQ(layer_of(op), "encoder.1");
}

TEST(Labels, FamilyHasNumbersBetweenSeparatorsAsStars) {
  EXPECT_EQ(family_of("ffn_gate-12"), "ffn_gate-*");
  EXPECT_EQ(family_of("layers/3/attn.0"), "layers/*/attn.*");
  EXPECT_EQ(family_of("conv2d_7"), "conv2d_*");
  EXPECT_EQ(family_of("7"), "*");
  EXPECT_EQ(family_of("x12y"), "x12y");
  EXPECT_EQ(family_of("12x"), "12x");
  EXPECT_EQ(family_of(""), "");
}

TEST(Text, NamesAreClippedInTheMiddle) {
  EXPECT_EQ(clipped("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(clipped("abcdefghijk", 10), "abcd..hijk");
  EXPECT_EQ(clipped("äöüäöüäöüä", 6), "äö..üä");
  EXPECT_EQ(clipped("a\x1b[2Jb", 20), "a?[2Jb");
}

TEST(Text, LinesAreBrokenAtSpacesAndNeverLongerThanTheWidth) {
  const std::string word(30, 'w');
  const std::string text = wrapped("> ", word + " " + word + " " + word + " " + word, 4);
  EXPECT_EQ(text, "> " + word + " " + word + " " + word + "\n    " + word + "\n");
  EXPECT_EQ(wrapped({}, std::string(200, 'x'), 0).size(), kWidth + 1);
}

TEST(Text, SizesBelowZeroKeepTheirSign) {
  EXPECT_EQ(size_text(Bytes(-2048), SizeStyle::human), "-2.00 KiB");
  EXPECT_EQ(size_text(Bytes(-2048), SizeStyle::bytes), "-2048");
}

}  // namespace
}  // namespace stowage::report
