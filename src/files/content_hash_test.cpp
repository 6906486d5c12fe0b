#include <string>

#include <gtest/gtest.h>

#include "stowage/files.hpp"

namespace stowage {
namespace {

TEST(ContentHash, IsFnv1aOf128Bits) {  // the values that its authors publish
  EXPECT_EQ(content_hash(""), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(content_hash("a"), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_EQ(content_hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
}

TEST(ContentHash, SeesEveryByte) {
  std::string content(1000, '\0');
  const std::string before = content_hash(content);
  content[999] = 1;
  EXPECT_NE(content_hash(content), before);
  content[999] = 0;
  EXPECT_EQ(content_hash(content), before);
}

}  // namespace
}  // namespace stowage
