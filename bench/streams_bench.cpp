#include <array>
#include <ctime>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "exit.hpp"
#include "generate_streams.hpp"
#include "planner/interface/record.hpp"
#include "sections.hpp"
#include "stowage/planner.hpp"
#include "table.hpp"

/// Planning with many streams: from a graph to a verified plan.
namespace stowage::bench {
namespace {

constexpr std::size_t kStreams = 64;
constexpr double kLimit = 10e3;  ///< Milliseconds of CPU time for the largest graph.

struct Family {
  std::string_view name;
  Graph (*make)(std::size_t ops, std::size_t streams);
};
constexpr std::array kFamilies = {Family{"pipeline", &make_pipeline}, Family{"weave", &make_weave},
                                  Family{"strands", &make_strands}};

void forget_peak_of_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Peak of resident memory since it was last reset.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

/// CPU time of this process in milliseconds. On a shared machine it says more than wall-clock time.
double cpu_milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double in_ms(std::chrono::nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Adds a row; returns the total CPU time.
double add_row(Table& table, const Family& family, std::size_t ops, const PlanOptions& options) {
  const Graph graph = family.make(ops, kStreams);
  forget_peak_of_memory();
  const double before = peak_mib();
  const double cpu = cpu_milliseconds();
  const Clock::time_point start = Clock::now();
  const Planned planned = value_or_exit(plan(graph, options));
  const double whole = milliseconds_since(start);
  const double spent = cpu_milliseconds() - cpu;
  STOWAGE_CHECK(planned.has_answer(), "a graph without a capacity has an answer");
  table.add({fmt::format("{}, {}", family.name, options.solver),
             with_commas(static_cast<long long>(graph.ops().size())),
             with_commas(static_cast<long long>(planned.items)), to_text(in_ms(planned.record->times.liveness)),
             to_text(in_ms(planned.record->times.lower)), to_text(in_ms(planned.record->times.solve)),
             to_text(in_ms(planned.record->times.verify)), to_text(whole), to_text(spent),
             ratio(planned.plan->peak().value(), planned.lower_bound.value()), fmt::format("{:.0f}", before),
             fmt::format("{:.0f}", peak_mib() - before)});
  return spent;
}

}  // namespace

std::vector<Limited> bench_streams(const Options& options) {
  fmt::print(
      "## Streams\n\n{} streams; times in ms, memory in MiB: that of the graph, and the peak that planning adds.\n\n",
      kStreams);
  Table table({"graph, solver", "ops", "items", "liveness", "lower", "solve", "verify", "plan", "CPU", "peak / bound",
               "graph MiB", "plan MiB"});
  std::vector<Limited> limited;
  for (const Family& family : kFamilies) {
    if (!options.selection.has(std::string(family.name))) continue;
    for (const std::size_t ops : {1'000U, 10'000U, 100'000U}) {
      if (ops > options.effort.most_items) continue;
      for (const char* const solver : {"online_best_fit", "blocks", "auto"}) {
        const double time = add_row(table, family, ops, {.solver = solver, .time_limit = std::chrono::seconds(5)});
        if (ops == 100'000 && std::string_view(solver) == "auto")
          limited.push_back({fmt::format("{}, {} ops, CPU", family.name, with_commas(static_cast<long long>(ops))),
                             kLimit,
                             {time, time}});
      }
    }
  }
  table.print();
  return limited;
}

}  // namespace stowage::bench
