#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"

namespace stowage {

/// Which bytes are covered by ranges that come and go.
///
/// A tree over the bytes between which ranges begin and end: each node counts the ranges that cover all of it, and
/// knows whether all or none of it is covered, so that long stretches of either are seen at once. O(log n) to add or
/// remove a range, and for each stretch that is found.
class Coverage {
 public:
  /// `ends` are where ranges begin and end: ascending, each once.
  explicit Coverage(std::vector<Bytes> ends);

  void add(ByteRange range) { change(range, 1); }
  /// Precondition: it was added.
  void remove(ByteRange range) { change(range, -1); }

  /// The covered stretches within the range, as long as they can be, ascending. Precondition: it begins and ends at one
  /// of `ends`.
  [[nodiscard]] std::vector<ByteRange> covered(ByteRange range) const;

 private:
  enum class Extent : std::uint8_t { none, some, all };
  struct Node {
    std::int32_t count = 0;  ///< Of the ranges that cover all of it, but not all of its parent.
    Extent extent = Extent::none;
  };
  /// A node, and the cells between ends that it stands for.
  struct CellRange {
    std::size_t node;
    std::size_t begin;
    std::size_t end;

    [[nodiscard]] std::size_t middle() const { return begin + (end - begin) / 2; }
    [[nodiscard]] CellRange left() const { return {node + 1, begin, middle()}; }
    /// A node with n cells has 2n - 1 nodes, itself included.
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
