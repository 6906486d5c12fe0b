#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit.hpp"
#include "generate_problems.hpp"
#include "sections.hpp"
#include "stowage/pack.hpp"
#include "table.hpp"

/// How time and memory grow. Each row is measured in a separate process, for which the system reports the peak of
/// resident memory.
namespace stowage::bench {
namespace {

constexpr double kNearlyOptimal = 1.001;
constexpr double kTimeLimit = 10e3;    ///< Milliseconds until nearly optimal.
constexpr double kMemoryLimit = 1024;  ///< MiB.

struct Family {
  std::string_view name;
  Problem (*make)(std::size_t items);
};
constexpr std::array kFamilies = {Family{"heavy", &make_heavy_tail}, Family{"dense", &make_dense}};

/// What the child process reports. Times are in milliseconds; negative: never.
struct Measured {
  double first = -1;
  double near = -1;  ///< Time until within kNearlyOptimal of the bound.
  double whole = 0;
  std::int64_t peak = 0;
  std::int64_t bound = 0;
  std::uint64_t nodes = 0;
  double problem_mib = 0;  ///< Resident memory before solving.
  double peak_mib = 0;
};

double resident_mib() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

Measured solve_one(const Problem& problem, std::chrono::seconds patience) {
  Measured measured;
  measured.bound = lower_bound(problem).bytes.value();
  measured.problem_mib = resident_mib();
  const double near = kNearlyOptimal * static_cast<double>(measured.bound);
  const Clock::time_point begin = Clock::now();
  SolveOptions options;
  options.deadline = begin + patience;
  options.on_better = [&](const SolveOutcome& better) {
    const double now = milliseconds_since(begin);
    if (measured.first < 0) measured.first = now;
    if (measured.near < 0 && static_cast<double>(better.peak.value()) <= near) measured.near = now;
  };
  const SolveOutcome outcome = value_or_exit(solve(problem, options));
  measured.whole = milliseconds_since(begin);
  measured.peak = outcome.peak.value();
  measured.nodes = outcome.nodes;
  return measured;
}

[[noreturn]] void exit_for(const char* what) {
  exit_with({ErrorCode::io, fmt::format("{}: {}", what, std::strerror(errno)), {}});
}

/// Measures in a child process, which inherits little because this section runs first.
Measured measure_apart(const Family& family, std::size_t items, std::chrono::seconds patience) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) exit_for("pipe");
  std::fflush(stdout);  // so that the child does not print it again
  const pid_t child = fork();
  if (child < 0) exit_for("fork");
  if (child == 0) {
    const Measured measured = solve_one(family.make(items), patience);
    _exit(write(ends[1], &measured, sizeof measured) == sizeof measured ? 0 : 1);
  }
  close(ends[1]);
  Measured measured;
  const bool whole = read(ends[0], &measured, sizeof measured) == sizeof measured;
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) < 0) exit_for("wait4");
  if (!whole || status != 0)
    exit_with({ErrorCode::invalid, fmt::format("{}_{} did not finish", family.name, items), {}});
  measured.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return measured;
}

std::string optional_time(double milliseconds) { return milliseconds < 0 ? "–" : to_text(milliseconds); }

/// One curve; the smallest problem comes first.
class Curve {
 public:
  /// Makes the next row.
  std::vector<std::string> add(const std::string& name, std::size_t items, const Measured& measured) {
    const auto n = static_cast<double>(items);
    const double work = n * std::log2(n);
    if (first_ < 0) first_ = measured.first / work;
    if (whole_ < 0) whole_ = measured.whole / work;
    const bool within = measured.near >= 0 && measured.near <= kTimeLimit && measured.peak_mib <= kMemoryLimit;
    return {name,
            ratio(measured.peak, measured.bound),
            to_text(measured.first),
            optional_time(measured.near),
            to_text(measured.whole),
            std::to_string(measured.nodes),
            fmt::format("{:.2f}", measured.first / work / first_),
            measured.peak == measured.bound ? fmt::format("{:.2f}", measured.whole / work / whole_) : "–",
            fmt::format("{:.0f}", measured.problem_mib),
            fmt::format("{:.0f}", measured.peak_mib),
            within ? "yes" : "NO"};
  }

 private:
  double first_ = -1;  ///< Milliseconds per n log2 n in the first row, to the first answer and to the end.
  double whole_ = -1;
};

}  // namespace

std::vector<Limited> bench_curve(const Options& options) {
  Table table({"problem", "peak / bound", "first answer", "within 0.1 %", "whole", "nodes", "first / (n log n)",
               "whole / (n log n)", "MiB, problem", "MiB, peak", "on target"});
  bool any = false;
  for (const Family& family : kFamilies) {
    Curve curve;
    for (const std::size_t items : {10'000U, 31'623U, 100'000U, 316'228U, 1'000'000U}) {
      const std::string name = fmt::format("{}_{}", family.name, items);
      if (items > options.effort.most_items || !options.selection.has(name)) continue;
      const Measured measured = measure_apart(family, items, options.effort.patience);
      table.add(curve.add(name, items, measured));
      any = true;
    }
  }
  if (!any) return {};
  fmt::print("## Curve\n\n`auto` until it stops or {} s have passed. ", options.effort.patience.count());
  fmt::print("Target: within 0.1 % of the bound in {:.0f} s, and {:.0f} MiB in total. ", kTimeLimit / 1e3,
             kMemoryLimit);
  fmt::print("Time / (n log n) is relative to the smallest problem: above 1 it grows faster.\n\n");
  table.print();
  return {};
}

}  // namespace stowage::bench
