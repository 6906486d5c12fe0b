#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "growth_limit.hpp"
#include "stowage/report/sweep.hpp"

namespace stowage::cli {

/// A row with the same input, dims and options in an earlier table.
struct ChangedRow {
  const SweepRow* before;
  const SweepRow* now;
};

/// What changed since an earlier table. Refers to the rows of both.
struct SweepChanges {
  std::vector<ChangedRow> grew;    ///< Peaks that are larger.
  std::vector<ChangedRow> shrank;  ///< Peaks that are smaller.
  std::vector<ChangedRow> lost;    ///< There was a peak; now there is none.
  std::size_t same = 0;
  std::size_t added = 0;    ///< Rows that the earlier table does not have.
  std::size_t missing = 0;  ///< Rows that only the earlier table has.
};
[[nodiscard]] SweepChanges compare_sweeps(std::span<const SweepRow> before, std::span<const SweepRow> now);

/// One line for each changed row, and one with the numbers of the others.
[[nodiscard]] std::string changes_text(const SweepChanges& changes);

/// A line for each row that grew by more than the limit or lost its peak, each after a line break; empty if there is
/// none.
[[nodiscard]] std::string beyond_limit(const SweepChanges& changes, const GrowthLimit& limit);

}  // namespace stowage::cli
