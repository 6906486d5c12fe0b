#include "support/judges/shadow/memory.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stowage::testing {

// ------------------------------------------------------------------------------------------------------- SparseMemory

SparseMemory::SparseMemory(std::vector<Extent> extents) {
  std::erase_if(extents, [](const Extent& extent) { return extent.count == 0; });
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return std::tie(a.space, a.first) < std::tie(b.space, b.first); });
  for (const Extent& extent : extents) {
    Extent* last = segments_.empty() ? nullptr : &segments_.back().extent;
    if (last != nullptr && last->space == extent.space && extent.first < last->first + last->count) {
      last->count = std::max(last->count, extent.first + extent.count - last->first);
    } else {
      segments_.push_back({extent, 0});
    }
  }
  std::size_t size = 0;
  for (Segment& segment : segments_) {
    segment.start = size;
    size += segment.extent.count;
  }
  bytes_.assign(size, kPoison);
}

std::span<std::byte> SparseMemory::at(const Extent& extent) {
  if (extent.count == 0) return {};
  const auto after =
      std::upper_bound(segments_.begin(), segments_.end(), extent, [](const Extent& a, const Segment& b) {
        return std::tie(a.space, a.first) < std::tie(b.extent.space, b.extent.first);
      });
  const Segment& segment = *(after - 1);
  return std::span(bytes_).subspan(segment.start + (extent.first - segment.extent.first), extent.count);
}

void SparseMemory::fill_space(std::size_t space, std::byte value) {
  for (const Segment& segment : segments_) {
    if (segment.extent.space != space) continue;
    const std::span<std::byte> bytes = std::span(bytes_).subspan(segment.start, segment.extent.count);
    std::fill(bytes.begin(), bytes.end(), value);
  }
}

// ------------------------------------------------------------------------------------------------------- WrittenCells

void WrittenCells::add(std::size_t first, std::size_t count) {
  Cells added{first, first + count};
  std::vector<Cells> kept;
  for (const Cells& range : ranges_) {
    if (range.last < added.first || added.last < range.first) {
      kept.push_back(range);
    } else {
      added = {std::min(added.first, range.first), std::max(added.last, range.last)};
    }
  }
  kept.push_back(added);
  ranges_ = std::move(kept);
}

void WrittenCells::remove(std::size_t first, std::size_t count) {
  const std::size_t last = first + count;
  std::vector<Cells> kept;
  for (const Cells& range : ranges_) {
    const Cells before{range.first, std::min(range.last, first)};
    const Cells after{std::max(range.first, last), range.last};
    if (before.first < before.last) kept.push_back(before);
    if (after.first < after.last) kept.push_back(after);
  }
  ranges_ = std::move(kept);
}

std::vector<std::byte> WrittenCells::mask(std::size_t first, std::size_t count) const {
  const std::size_t last = first + count;
  for (const Cells& range : ranges_) {
    if (range.first <= first && last <= range.last) return {};
  }
  std::vector<std::byte> result(count, std::byte{0});
  for (const Cells& range : ranges_) {
    for (std::size_t cell = std::max(first, range.first); cell < std::min(last, range.last); ++cell) {
      result[cell - first] = std::byte{0xff};
    }
  }
  return result;
}

std::vector<WrittenCells::Cells> WrittenCells::within(std::size_t first, std::size_t count) const {
  std::vector<Cells> result;
  for (const Cells& range : ranges_) {
    const Cells part{std::max(range.first, first), std::min(range.last, first + count)};
    if (part.first < part.last) result.push_back({part.first - first, part.last - first});
  }
  return result;
}

}  // namespace stowage::testing
