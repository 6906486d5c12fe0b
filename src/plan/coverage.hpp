#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"

namespace stowage {

/// Tracks which bytes are covered by a changing set of ranges.
///
/// A segment tree over the points at which ranges begin and end. Each node counts the ranges that cover all of it, and
/// stores whether all or none of it is covered, so that long stretches of either kind are found at once. O(log n) to
/// add or remove a range, and per stretch found.
class Coverage {
 public:
  /// `ends` are the points at which ranges begin and end: ascending, without duplicates.
  explicit Coverage(std::vector<Bytes> ends);

  void add(ByteRange range) { change(range, 1); }
  /// Precondition: the range was added.
  void remove(ByteRange range) { change(range, -1); }

  /// The maximal covered stretches within the range, ascending. Precondition: the range begins
  /// and ends at one of `ends`.
  [[nodiscard]] std::vector<ByteRange> covered(ByteRange range) const;

 private:
  enum class Extent : std::uint8_t { none, some, all };
  struct Node {
    std::int32_t count = 0;  ///< The number of ranges that cover all of it, but not all of its parent.
    Extent extent = Extent::none;
  };
  /// A node, and the cells (gaps between neighbouring ends) that it covers.
  struct CellRange {
    std::size_t node;
    std::size_t begin;
    std::size_t end;

    [[nodiscard]] std::size_t middle() const { return begin + (end - begin) / 2; }
    [[nodiscard]] CellRange left() const { return {node + 1, begin, middle()}; }
    /// The subtree of a node with n cells has 2n - 1 nodes.
    [[nodiscard]] CellRange right() const { return {node + 2 * (middle() - begin), middle(), end}; }
  };

  [[nodiscard]] CellRange root() const { return {0, 0, ends_.size() - 1}; }
  [[nodiscard]] CellRange cells(ByteRange range) const;
  void change(ByteRange range, std::int32_t by);
  void change(const CellRange& at, const CellRange& cells, std::int32_t by);
  void collect(const CellRange& at, const CellRange& cells, std::vector<ByteRange>& stretches) const;

  std::vector<Bytes> ends_;
  std::vector<Node> nodes_;
};

}  // namespace stowage
