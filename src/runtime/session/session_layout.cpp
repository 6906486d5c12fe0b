#include "runtime/session/session_layout.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace stowage::runtime {

std::vector<SessionGap> merged(std::vector<SessionGap> parts) {
  std::sort(parts.begin(), parts.end(), [](const SessionGap& a, const SessionGap& b) { return a.base < b.base; });
  std::vector<SessionGap> result;
  for (const SessionGap& part : parts) {
    if (!result.empty() && result.back().base + result.back().size.value() == part.base) {
      result.back().size += part.size;
    } else {
      result.push_back(part);
    }
  }
  return result;
}

std::vector<SessionGap> gaps_between(std::span<const SessionMemory::Extent> extents, std::span<const SessionGap> busy) {
  std::vector<SessionGap> taken(busy.begin(), busy.end());
  std::sort(taken.begin(), taken.end(), [](const SessionGap& a, const SessionGap& b) { return a.base < b.base; });
  std::vector<SessionGap> gaps;
  for (const SessionMemory::Extent& extent : extents) {
    std::byte* at = extent.base;
    std::byte* const end = extent.base + extent.size.value();
    for (const SessionGap& part : taken) {
      if (part.base < extent.base || part.base >= end) continue;
      if (at < part.base) gaps.push_back({at, Bytes(part.base - at)});
      at = std::max(at, part.base + part.size.value());
    }
    if (at < end) gaps.push_back({at, Bytes(end - at)});
  }
  return gaps;
}

SessionLayout lay_out(std::span<const Bytes> sizes, std::vector<SessionGap> gaps) {
  SessionLayout layout{
      .addresses = std::vector<std::byte*>(sizes.size(), nullptr), .left = {}, .gaps = std::move(gaps)};
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::tuple(sizes[b], a) < std::tuple(sizes[a], b); });
  std::set<std::pair<Bytes, std::size_t>> by_size;
  for (std::size_t gap = 0; gap < layout.gaps.size(); ++gap) by_size.emplace(layout.gaps[gap].size, gap);
  for (const std::size_t block : order) {
    if (sizes[block] == Bytes(0)) continue;
    const auto found = by_size.lower_bound({sizes[block], 0});
    if (found == by_size.end()) {
      layout.left.push_back(block);
      continue;
    }
    const std::size_t index = found->second;
    by_size.erase(found);
    SessionGap& gap = layout.gaps[index];
    layout.addresses[block] = gap.base;
    gap = {gap.base + sizes[block].value(), gap.size - sizes[block]};
    if (gap.size > Bytes(0)) by_size.emplace(gap.size, index);
  }
  return layout;
}

}  // namespace stowage::runtime
