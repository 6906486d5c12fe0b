#pragma once

#include <string>
#include <vector>

#include "instances.hpp"
#include "timing.hpp"

/// The parts of the report. Each measures, prints its tables, and returns the figures that have a limit.
namespace stowage::bench {

/// What the command line asks for.
struct Options {
  Selection selection = {};
  Effort effort = {};
  std::string minimalloc = {};  ///< The path of a MiniMalloc binary to measure beside ours; empty: none.
};

/// A figure that must stay below a limit, both in milliseconds.
struct Limited {
  std::string what;
  double limit;
  Timing time;
};

/// Every instance by every solver.
[[nodiscard]] std::vector<Limited> bench_solvers(const Options& options);
/// From a file to a verified plan, stage by stage.
[[nodiscard]] std::vector<Limited> bench_stages(const Options& options);
/// MiniMalloc's challenging set: time to fit the capacity and to reach the bound, over several seeds.
[[nodiscard]] std::vector<Limited> bench_challenging(const Options& options);
/// What proofs by search take.
[[nodiscard]] std::vector<Limited> bench_proofs(const Options& options);
/// `auto` from ten thousand items to a million.
[[nodiscard]] std::vector<Limited> bench_curve(const Options& options);
/// A change of some sizes against a solution from scratch.
[[nodiscard]] std::vector<Limited> bench_replanning(const Options& options);
/// Which index of what has been placed is the cheapest.
[[nodiscard]] std::vector<Limited> bench_occupancies(const Options& options);
/// Graphs over several backends: splits and copied bytes.
[[nodiscard]] std::vector<Limited> bench_partition(const Options& options);
/// Graphs of many streams, up to a hundred thousand ops.
[[nodiscard]] std::vector<Limited> bench_streams(const Options& options);
/// Dynamic allocators: recorded traces, pairs of calls, threads.
[[nodiscard]] std::vector<Limited> bench_runtime(const Options& options);

}  // namespace stowage::bench
