#include "plan/coverage.hpp"

#include <algorithm>
#include <utility>

namespace stowage {

Coverage::Coverage(std::vector<Bytes> ends) : ends_(std::move(ends)), nodes_(2 * ends_.size()) {}

Coverage::CellRange Coverage::cells(ByteRange range) const {
  const auto index = [&](Bytes end) {
    return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), end) - ends_.begin());
  };
  return {0, index(range.lower), index(range.upper)};
}

void Coverage::change(ByteRange range, std::int32_t by) {
  if (!range.empty()) change(root(), cells(range), by);
}

void Coverage::change(const CellRange& at, const CellRange& cells, std::int32_t by) {
  if (cells.end <= at.begin || at.end <= cells.begin) return;
  Node& node = nodes_[at.node];
  const bool leaf = at.end - at.begin == 1;
  if (cells.begin <= at.begin && at.end <= cells.end) {
    node.count += by;
  } else {
    change(at.left(), cells, by);
    change(at.right(), cells, by);
  }
  if (node.count > 0) {
    node.extent = Extent::all;
  } else if (leaf) {
    node.extent = Extent::none;
  } else {
    const Extent left = nodes_[at.left().node].extent;
    node.extent = left == nodes_[at.right().node].extent ? left : Extent::some;
  }
}

std::vector<ByteRange> Coverage::covered(ByteRange range) const {
  std::vector<ByteRange> stretches;
  if (!range.empty()) collect(root(), cells(range), stretches);
  return stretches;
}

void Coverage::collect(const CellRange& at, const CellRange& cells, std::vector<ByteRange>& stretches) const {
  if (cells.end <= at.begin || at.end <= cells.begin || nodes_[at.node].extent == Extent::none) return;
  if (nodes_[at.node].extent == Extent::some) {
    collect(at.left(), cells, stretches);
    collect(at.right(), cells, stretches);
    return;
  }
  const ByteRange found{ends_[std::max(at.begin, cells.begin)], ends_[std::min(at.end, cells.end)]};
  if (!stretches.empty() && stretches.back().upper == found.lower) {
    stretches.back().upper = found.upper;
  } else {
    stretches.push_back(found);
  }
}

}  // namespace stowage
