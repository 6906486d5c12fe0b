#include "pack/taken.hpp"

#include <algorithm>
#include <set>

#include "pack/index/max_segment_tree.hpp"
#include "pack/rounding.hpp"

namespace stowage::pack {
namespace {

/// By section: the smallest alignment of its items.
std::vector<std::int64_t> smallest_alignments(const Plain& plain) {
  std::vector<std::int64_t> smallest(plain.sections());
  const std::set<std::int64_t> alignments(plain.alignment.begin(), plain.alignment.end());
  for (const std::int64_t alignment : alignments) {
    std::vector<std::int32_t> change(std::size_t{plain.sections()} + 1);
    for (std::uint32_t i = 0; i < plain.count(); ++i) {
      if (plain.alignment[i] != alignment) continue;
      ++change[plain.first[i]];
      --change[plain.last[i]];
    }
    std::int32_t covering = 0;
    for (std::uint32_t s = 0; s < plain.sections(); ++s) {
      covering += change[s];
      if (covering > 0 && smallest[s] == 0) smallest[s] = alignment;
    }
  }
  return smallest;
}

void sum_up(Plain& plain) {
  std::vector<std::int64_t> change(std::size_t{plain.sections()} + 1);
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    change[plain.first[i]] += plain.size[i];
    change[plain.last[i]] -= plain.size[i];
  }
  std::int64_t live = 0;
  for (std::uint32_t s = 0; s < plain.sections(); ++s) plain.total[s] = live += change[s];
  for (const std::int64_t total : plain.total) plain.bound = std::max(plain.bound, total);
}

/// Rounding to at most this keeps all sums far from the limits of 64 bits.
constexpr std::int64_t kLargestRounding = std::int64_t{1} << 32;
constexpr std::int64_t kLargestTotal = std::int64_t{1} << 60;

}  // namespace

std::optional<Plain> with_taken_sizes(const Plain& plain) {
  const auto even = [&](std::uint32_t i) { return round_up(plain.size[i], plain.alignment[i]) == plain.size[i]; };
  std::uint32_t uneven = 0;
  while (uneven < plain.count() && even(uneven)) ++uneven;
  if (uneven == plain.count() || plain.bound > kLargestTotal) return std::nullopt;
  std::vector<std::int64_t> negative = smallest_alignments(plain);  // because the tree finds maxima
  for (std::int64_t& alignment : negative) alignment = -std::min(alignment, kLargestRounding);
  MaxSegmentTree tree;
  tree.reset(negative);
  Plain result = plain;
  for (std::uint32_t i = uneven; i < plain.count(); ++i) {
    const std::int64_t smallest = -tree.maximum(plain.first[i], plain.last[i]).value;
    result.size[i] = round_up(plain.size[i], smallest);
  }
  if (result.size == plain.size) return std::nullopt;
  sum_up(result);
  return result;
}

std::vector<std::int64_t> coarse_alignments(const Plain& plain) {
  std::set<std::int64_t> coarse;
  const std::set<std::int64_t> alignments(plain.alignment.begin(), plain.alignment.end());
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    for (const std::int64_t alignment : alignments) {
      if (alignment > std::min(plain.alignment[i], kLargestRounding)) break;
      if (round_up(plain.size[i], alignment) > plain.size[i]) coarse.insert(alignment);
    }
  }
  return {coarse.begin(), coarse.end()};
}

}  // namespace stowage::pack
