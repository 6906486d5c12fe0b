#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common_options.hpp"
#include "stowage/report/sweep.hpp"

namespace stowage::cli {

/// What `sweep` plans: every input with every combination of the dims' values.
struct SweepTask {
  std::vector<std::string> inputs;
  std::vector<DimValues> dims;
  ImportOptions import;  ///< Its dims are ignored.
  PlanOptions options;
  std::size_t jobs = 1;  ///< How many are planned at a time.
};

struct SweepResult {
  std::vector<SweepRow> rows;  ///< In the order of the inputs, then of the combinations, the last dim first.
  bool stopped = false;        ///< By Ctrl-C: only rows that were ready are there.
};

/// Reads each input once, reports progress, and never fails: what is wrong with an input is in its rows. Without a time
/// limit in the options the rows do not depend on `jobs`, except for their times.
[[nodiscard]] SweepResult run_sweep(const SweepTask& task);

}  // namespace stowage::cli
