#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shadow/families.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::testing {

/// What fresh memory holds, and what the outputs of an op hold before it writes them.
inline constexpr std::byte kPoison{0xdb};

/// Cells `first` to `first + count` of one of many separate address ranges.
struct Extent {
  std::size_t space = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Real memory for some extents of large address ranges. Extents that overlap share bytes as their addresses say; cells that no
/// extent names take none, so that a range of many GB of which little is used costs little.
class SparseMemory {
 public:
  explicit SparseMemory(std::vector<Extent> extents);
  SparseMemory(SparseMemory&&) = default;
  SparseMemory& operator=(SparseMemory&&) = default;

  /// Precondition: `extent` was given to the constructor.
  [[nodiscard]] std::span<std::byte> at(const Extent& extent);

 private:
  struct Segment {
    Extent extent;
    std::size_t start = 0;  ///< In bytes_.
  };
  std::vector<Segment> segments_;  ///< Disjoint, ascending by space and cell.
  std::vector<std::byte> bytes_;
};

/// Which cells of one family have been written. A sorted list of disjoint ranges; families are mostly written as a whole.
class WrittenCells {
 public:
  void add(std::size_t first, std::size_t count);
  /// 0xff for each cell of the range that was written, 0 for the others. Empty when all were.
  [[nodiscard]] std::vector<std::byte> mask(std::size_t first, std::size_t count) const;

 private:
  struct Cells {
    std::size_t first;
    std::size_t last;
  };
  std::vector<Cells> ranges_;
};

/// The memory of one run. Tensors that have none (constants, size 0) have empty spans.
struct RunMemory {
  SparseMemory memory;
  std::vector<std::span<std::byte>> tensors = {};
  std::vector<std::vector<std::span<std::byte>>> workspaces = {};  ///< By op; the reference run has none.
};

/// Every family in memory of its own.
[[nodiscard]] RunMemory reference_memory(const Families& families);

/// Every tensor and workspace where the plan says; externals in memory of their own. Whatever is missing or outside of its region
/// is appended to `findings`; the result then is not to be used.
[[nodiscard]] RunMemory planned_memory(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity,
                                       std::vector<std::string>& findings);

}  // namespace stowage::testing
