#pragma once

#include <string>
#include <vector>

#include "instances.hpp"
#include "timing.hpp"

/// The parts of the report. Each measures, prints its tables, and returns the figures that have a limit.
namespace stowage::bench {

/// A figure that must stay below a limit, both in milliseconds.
struct Limited {
  std::string what;
  double limit;
  Timing time;
};

[[nodiscard]] std::vector<Limited> bench_graphs(const Selection& selection, const Effort& effort);
[[nodiscard]] std::vector<Limited> bench_csvs(const Selection& selection, const Effort& effort);
[[nodiscard]] std::vector<Limited> bench_occupancies(const Selection& selection, const Effort& effort);

}  // namespace stowage::bench
