#include "replay/blocks.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

namespace stowage::replaying {
namespace {

/// Gaps between addresses that are larger than this part of all the addresses in use are left out.
constexpr std::uintptr_t kGapShare = 16;

/// Addresses from `start` to `end`.
struct Range {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::int64_t length() const { return static_cast<std::int64_t>(end - start); }
};

/// A refused allocation and one of 0 bytes have no block.
bool has_block(const Grant& grant) { return grant.size > Bytes(0) && grant.address != 0; }

/// Merges ranges, which are sorted, that meet or have at most this gap between them.
std::vector<Range> merged(const std::vector<Range>& ranges, std::uintptr_t gap) {
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (result.empty() || (range.start > result.back().end && range.start - result.back().end > gap)) {
      result.push_back(range);
    } else {
      result.back().end = std::max(result.back().end, range.end);
    }
  }
  return result;
}

/// Runs of addresses without large gaps.
std::vector<Range> segments_of(const std::vector<Grant>& grants) {
  std::vector<Range> ranges;
  for (const Grant& grant : grants)
    ranges.push_back({grant.address, grant.address + static_cast<std::uintptr_t>(grant.size.value())});
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  const std::vector<Range> solid = merged(ranges, 0);
  std::uintptr_t used = 0;
  for (const Range& range : solid) used += range.end - range.start;
  return merged(solid, used / kGapShare);
}

double area_of(const Grant& grant) {
  return static_cast<double>(grant.size.value()) * static_cast<double>(grant.end - grant.first);
}

std::vector<Grant> largest(std::span<const Grant> grants, std::size_t limit) {
  std::vector<Grant> kept;
  std::copy_if(grants.begin(), grants.end(), std::back_inserter(kept), has_block);
  const auto by_area = [](const Grant& a, const Grant& b) {
    return std::tuple(-area_of(a), a.first) < std::tuple(-area_of(b), b.first);
  };
  if (kept.size() > limit) {
    std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(limit), kept.end(), by_area);
    kept.resize(limit);
  }
  std::sort(kept.begin(), kept.end(), [](const Grant& a, const Grant& b) { return a.first < b.first; });
  return kept;
}

}  // namespace

ReplayBlocks blocks_of(std::span<const Grant> grants, std::size_t limit) {
  const std::vector<Grant> kept = largest(grants, limit);
  ReplayBlocks result;
  const auto blocks = static_cast<std::size_t>(std::count_if(grants.begin(), grants.end(), has_block));
  result.left_out = blocks - kept.size();
  const std::vector<Range> segments = segments_of(kept);
  std::vector<Bytes> starts;
  Bytes sum;
  for (const Range& segment : segments) {
    starts.push_back(sum);
    result.segments.emplace_back(segment.length());
    sum += Bytes(segment.length());
  }
  for (const Grant& grant : kept) {
    const auto after = std::upper_bound(segments.begin(), segments.end(), grant.address,
                                        [](std::uintptr_t at, const Range& each) { return at < each.start; });
    const auto segment = static_cast<std::size_t>(after - segments.begin()) - 1;
    const Bytes low = starts[segment] + Bytes(static_cast<std::int64_t>(grant.address - segments[segment].start));
    result.list.push_back({grant.first, grant.end, low, grant.size, grant.stream});
  }
  return result;
}

}  // namespace stowage::replaying
