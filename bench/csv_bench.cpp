#include <array>

#include <fmt/format.h>

#include "sections.hpp"
#include "solver_runs.hpp"
#include "stowage/io.hpp"
#include "stowage/pack.hpp"
#include "table.hpp"

/// Packing problems that came as CSV: no graph, only geometry.
namespace stowage::bench {
namespace {

constexpr double kOnlineLimit = 500;
constexpr double kOtherLimit = 3000;

/// Limits stand on the largest file; `auto` runs several of the others and has none.
void add_limits(const NamedRuns& instance, std::vector<Limited>& limited) {
  if (instance.name != "Y_1") return;
  for (const SolverRun& run : instance.runs) {
    if (run.solver == "auto") continue;
    limited.push_back(
        {instance.name + ", " + run.solver, run.solver == "online_best_fit" ? kOnlineLimit : kOtherLimit, run.time});
  }
}

}  // namespace

std::vector<Limited> bench_csvs(const Selection& selection, const Effort& effort) {
  Table table({"csv", "items", "bound", "import", "lower_bound", "validate"});
  std::vector<NamedRuns> runs;
  std::vector<Limited> limited;
  for (const CsvInstance& instance : csv_instances(selection)) {
    const Problem& problem = instance.table.problem;
    const Timing import = measure(effort, [&] { return instance.import(); });
    const Timing bound = measure(effort, [&] { return lower_bound(problem); });
    SolveOptions online;
    online.solver = "online_best_fit";
    const Result<SolveOutcome> outcome = solve(problem, online);
    STOWAGE_CHECK(outcome.has_value() && outcome->has_answer(), "a CSV without capacity has an answer");
    const Timing valid = measure(effort, [&] { return validate(problem, outcome->positions); });
    table.add({instance.name, std::to_string(problem.items.size()), with_commas(outcome->bound.bytes.value()), to_text(import),
               to_text(bound), to_text(valid)});
    runs.push_back({instance.name, run_solvers(std::array{&problem}, effort)});
    add_limits(runs.back(), limited);
  }
  if (runs.empty()) return limited;
  fmt::print("## CSVs\n\n### Stages\n\n");
  table.print();
  fmt::print("### Solvers\n\n");
  print_solver_tables(runs);
  return limited;
}

}  // namespace stowage::bench
