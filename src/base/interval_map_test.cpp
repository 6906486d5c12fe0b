#include "base/interface/interval_map.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stowage {
namespace {

ByteRange range(std::int64_t lower, std::int64_t upper) { return {Bytes(lower), Bytes(upper)}; }

std::string show(const IntervalMap<char>& map, ByteRange within) {
  std::string text;
  map.visit(within, [&](ByteRange at, char value) {
    text += std::to_string(at.lower.value()) + value + std::to_string(at.upper.value()) + " ";
  });
  return text;
}

TEST(IntervalMap, AssigningInTheMiddleSplits) {
  IntervalMap<char> map;
  map.assign(range(0, 10), 'a');
  map.assign(range(3, 5), 'b');
  EXPECT_EQ(show(map, range(0, 10)), "0a3 3b5 5a10 ");
}

TEST(IntervalMap, AssigningOverSeveralSwallowsThem) {
  IntervalMap<char> map;
  map.assign(range(0, 4), 'a');
  map.assign(range(6, 8), 'b');
  map.assign(range(9, 12), 'c');
  map.assign(range(2, 10), 'd');
  EXPECT_EQ(show(map, range(0, 20)), "0a2 2d10 10c12 ");
}

TEST(IntervalMap, VisitClipsToTheRange) {
  IntervalMap<char> map;
  map.assign(range(0, 10), 'a');
  EXPECT_EQ(show(map, range(4, 6)), "4a6 ");
  EXPECT_EQ(show(map, range(10, 12)), "");
  EXPECT_EQ(show(map, range(5, 5)), "");
}

TEST(IntervalMap, EqualsAnArrayUnderRandomAssignments) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    IntervalMap<char> map;
    std::string bytes(40, '.');
    for (int k = 0; k < 20; ++k) {
      const auto lower = static_cast<std::int64_t>(random() % 40);
      const auto upper = lower + static_cast<std::int64_t>(random() % static_cast<unsigned>(41 - lower));
      const char value = static_cast<char>('a' + random() % 26);
      map.assign(range(lower, upper), value);
      for (std::int64_t b = lower; b < upper; ++b) bytes[static_cast<std::size_t>(b)] = value;
      std::string seen(40, '.');
      map.visit(range(0, 40), [&](ByteRange at, char v) {
        for (std::int64_t b = at.lower.value(); b < at.upper.value(); ++b) seen[static_cast<std::size_t>(b)] = v;
      });
      ASSERT_EQ(seen, bytes);
    }
  }
}

}  // namespace
}  // namespace stowage
