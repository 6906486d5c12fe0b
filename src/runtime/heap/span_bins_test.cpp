#include "runtime/heap/span_bins.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::runtime {
namespace {

Span span_of(std::int64_t units) {
  Span span;
  span.size = Bytes(units * 512);
  return span;
}

TEST(SpanBins, FindsTheSmallestSpanThatIsLargeEnough) {
  SpanBins bins(Bytes(512));
  std::vector<Span> spans{span_of(3), span_of(100), span_of(101), span_of(5000)};
  for (Span& span : spans) bins.insert(&span);
  EXPECT_EQ(bins.find(Bytes(512)), &spans[0]);
  EXPECT_EQ(bins.find(Bytes(4 * 512)), &spans[1]);
  EXPECT_EQ(bins.find(Bytes(101 * 512)), &spans[2]);
  EXPECT_EQ(bins.find(Bytes(102 * 512)), &spans[3]);
  EXPECT_EQ(bins.find(Bytes(5001 * 512)), nullptr);
  EXPECT_EQ(bins.largest(), Bytes(5000 * 512));
}

TEST(SpanBins, AmongEqualOnesTheLowestAddressWins) {
  SpanBins bins(Bytes(512));
  std::vector<Span> spans{span_of(8), span_of(8), span_of(8)};
  std::byte memory[3];
  spans[0].address = &memory[1];
  spans[1].address = &memory[0];
  spans[2].address = &memory[2];
  for (Span& span : spans) bins.insert(&span);
  EXPECT_EQ(bins.find(Bytes(8 * 512)), &spans[1]);
}

/// With no more spans than are examined per bin, the answer is exact.
TEST(SpanBins, IsExactBestFitForFewSpans) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    SpanBins bins(Bytes(512));
    std::vector<Span> spans(1 + random() % 20);
    const auto draw = [&] {
      return static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << (1 + random() % 30)));
    };
    for (Span& span : spans) {
      span = span_of(draw());
      bins.insert(&span);
    }
    for (std::size_t gone = 0; gone < spans.size() / 3; ++gone) {
      bins.remove(&spans.back());
      spans.pop_back();
    }
    const Bytes size(draw() * 512);
    Bytes best = kMaxBytes;
    for (const Span& span : spans) {
      if (span.size >= size) best = std::min(best, span.size);
    }
    const Span* const found = bins.find(size);
    ASSERT_EQ(found == nullptr ? kMaxBytes : found->size, best) << "round " << round;
  }
}

/// However many spans share the last bin, one that fits is found.
TEST(SpanBins, FindsTheOneThatFitsAmongManyOfOneBin) {
  SpanBins bins(Bytes(512));
  std::vector<Span> spans(1000, span_of(6400));
  spans[0] = span_of(6500);  // in the same bin, and examined last
  for (Span& span : spans) bins.insert(&span);
  EXPECT_EQ(bins.find(Bytes(6450 * 512)), &spans[0]);
}

}  // namespace
}  // namespace stowage::runtime
