#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stowage::testing {

/// What fresh memory holds, and what the outputs of an op hold before it writes them.
inline constexpr std::byte kPoison{0xdb};

/// Cells `first` to `first + count` of one of many separate address ranges.
struct Extent {
  std::size_t space = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Real memory for some extents of large address ranges. Extents that overlap share bytes as their addresses say; cells
/// that no extent names take none, so that a range of many GB of which little is used costs little.
class SparseMemory {
 public:
  explicit SparseMemory(std::vector<Extent> extents);
  SparseMemory(SparseMemory&&) = default;
  SparseMemory& operator=(SparseMemory&&) = default;

  /// Precondition: `extent` was given to the constructor.
  [[nodiscard]] std::span<std::byte> at(const Extent& extent);

  /// Everything that the address range holds becomes `value`.
  void fill_space(std::size_t space, std::byte value);

 private:
  struct Segment {
    Extent extent;
    std::size_t start = 0;  ///< In bytes_.
  };
  std::vector<Segment> segments_;  ///< Disjoint, ascending by space and cell.
  std::vector<std::byte> bytes_;
};

/// Which cells of one family have been written. A list of disjoint ranges; families are mostly written as a whole.
class WrittenCells {
 public:
  struct Cells {
    std::size_t first;
    std::size_t last;
  };

  void add(std::size_t first, std::size_t count);
  void remove(std::size_t first, std::size_t count);
  void clear() { ranges_.clear(); }
  /// 0xff for each cell of the range that was written, 0 for the others. Empty when all were.
  [[nodiscard]] std::vector<std::byte> mask(std::size_t first, std::size_t count) const;
  /// The written parts of the range, counted from its start.
  [[nodiscard]] std::vector<Cells> within(std::size_t first, std::size_t count) const;

 private:
  std::vector<Cells> ranges_;
};

}  // namespace stowage::testing
