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
  std::string minimalloc = {};  ///< Path of a MiniMalloc binary to compare with; empty: none.
};

/// A figure that must stay below a limit, both in milliseconds.
struct Limited {
  std::string what;
  double limit;
  Timing time;
};

/// Every instance with every solver.
[[nodiscard]] std::vector<Limited> bench_solvers(const Options& options);
/// From a file to a verified plan, stage by stage.
[[nodiscard]] std::vector<Limited> bench_stages(const Options& options);
/// MiniMalloc's challenging set: time to fit the capacity and to reach the bound, over several seeds.
[[nodiscard]] std::vector<Limited> bench_challenging(const Options& options);
/// The cost of proofs by search.
[[nodiscard]] std::vector<Limited> bench_proofs(const Options& options);
/// `auto` from ten thousand items to a million.
[[nodiscard]] std::vector<Limited> bench_curve(const Options& options);
/// Re-planning after some sizes have changed, compared with solving from scratch.
[[nodiscard]] std::vector<Limited> bench_replanning(const Options& options);
/// Which index of placed items is the cheapest.
[[nodiscard]] std::vector<Limited> bench_occupancies(const Options& options);
/// Graphs partitioned over several backends: splits and copied bytes.
[[nodiscard]] std::vector<Limited> bench_partition(const Options& options);
/// Graphs with many streams, up to a hundred thousand ops.
[[nodiscard]] std::vector<Limited> bench_streams(const Options& options);
/// What runs do besides the ops, and what it costs.
[[nodiscard]] std::vector<Limited> bench_runs(const Options& options);
/// Dynamic allocators: recorded traces, pairs of calls, threads.
[[nodiscard]] std::vector<Limited> bench_runtime(const Options& options);

}  // namespace stowage::bench
