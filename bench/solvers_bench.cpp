#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "exit.hpp"
#include "lower/interface/lower.hpp"
#include "minimalloc.hpp"
#include "peers.hpp"
#include "sections.hpp"
#include "solver_runs.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

namespace stowage::bench {
namespace {

/// No search of ours has reached its optimum within the time limit here;
/// two of four runs of a prototype did, in a minute.
constexpr std::string_view kProvenElsewhere = "D";

/// Instances of one kind, with MiniMalloc's results if it was run.
class Group {
 public:
  Group(std::string title, const Options& options) : title_(std::move(title)), options_(options) {}

  void add(std::string name, const std::vector<const Problem*>& problems, std::optional<Bytes> optimum = {}) {
    InstanceRuns& runs = instances_.emplace_back(run_solvers(std::move(name), problems, options_.effort));
    if (optimum) runs.optimum = optimum;
    if (!options_.minimalloc.empty()) peers_.push_back(ask_minimalloc(problems));
  }

  void print() const;
  [[nodiscard]] const std::vector<InstanceRuns>& instances() const { return instances_; }

 private:
  /// MiniMalloc answers only one question: is there an answer at the bound?
  [[nodiscard]] std::string ask_minimalloc(const std::vector<const Problem*>& problems) const {
    constexpr std::size_t kTooLarge = 20'000;  // it does not check the clock during its preparations
    if (problems.size() != 1 || problems.front()->items.size() > kTooLarge) return "–";
    const MiniMalloc peer(options_.minimalloc);
    const Bytes bound = lower_bound(*problems.front()).bytes;
    const std::optional<PeerRun> run = value_or_exit(peer.run(*problems.front(), bound, kSearchTime));
    return !run ? "–" : run->solved ? to_text(run->wall) : "> " + to_text(run->wall);
  }

  std::string title_;
  const Options& options_;
  std::vector<InstanceRuns> instances_;
  std::vector<std::string> peers_;
};

std::string cell(const SolverRun& run, Bytes bound) {
  const std::string nodes = run.searches ? fmt::format(" ({})", run.nodes) : "";
  return ratio(run.peak.value(), bound.value()) + " in " + to_text(run.time.median) + nodes;
}

void Group::print() const {
  if (instances_.empty()) return;
  std::vector<std::string> header = {"instance", "items", "optimum"};
  for (const SolverInfo& solver : solvers()) header.emplace_back(solver.name);
  if (!peers_.empty()) header.emplace_back("MiniMalloc at the bound");
  Table table(std::move(header));
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    const InstanceRuns& instance = instances_[i];
    std::vector<std::string> row = {instance.name, std::to_string(instance.items),
                                    instance.optimum ? ratio(instance.optimum->value(), instance.bound.value()) : "–"};
    for (const SolverRun& run : instance.runs) row.push_back(cell(run, instance.bound));
    if (!peers_.empty()) row.push_back(peers_[i]);
    table.add(std::move(row));
  }
  fmt::print("### {}\n\n", title_);
  table.print();
}

/// Compares our bytes with ggml's, for graphs that were recorded from it.
void print_ggml(const std::vector<InstanceRuns>& instances) {
  Table table({"bytes", "ggml", "online_best_fit", "auto", "bound", "auto / ggml"});
  bool any = false;
  for (const InstanceRuns& instance : instances) {
    const auto peer =
        std::find_if(kGgml.begin(), kGgml.end(), [&](const PeerFigure& each) { return each.graph == instance.name; });
    if (peer == kGgml.end()) continue;
    const Bytes best = instance.by("auto").peak;
    table.add({instance.name, with_commas(peer->bytes), with_commas(instance.by("online_best_fit").peak.value()),
               with_commas(best.value()), with_commas(instance.bound.value()), ratio(best.value(), peer->bytes)});
    any = true;
  }
  if (!any) return;
  fmt::print("### Compared with ggml\n\nColumn ggml: {}; from the peer's own run, not from this one.\n\n", kGgmlSource);
  table.print();
}

/// There are limits for the largest file, and for solvers that run once.
std::vector<Limited> limits_of(const std::vector<InstanceRuns>& instances) {
  constexpr double kOnlineLimit = 500;
  constexpr double kOtherLimit = 3000;
  std::vector<Limited> limited;
  for (const InstanceRuns& instance : instances) {
    if (instance.name != "Y_1") continue;
    for (const SolverRun& run : instance.runs) {
      if (run.searches) continue;
      limited.push_back({fmt::format("{}, {}", instance.name, run.solver),
                         run.solver == "online_best_fit" ? kOnlineLimit : kOtherLimit, run.time});
    }
  }
  return limited;
}

void add_graph(Group& group, const GraphInstance& instance) {
  const Lowering lowering = lower(instance.graph, analyze(instance.graph));
  std::vector<const Problem*> problems;
  for (const ArenaProblem& arena : lowering.arenas) {
    if (arena.kind == ArenaKind::shared) problems.push_back(&arena.problem);
  }
  group.add(instance.name, problems);
}

}  // namespace

std::vector<Limited> bench_solvers(const Options& options) {
  Group csvs("CSVs", options);
  for (const CsvInstance& each : csv_instances(options.selection)) {
    const std::optional<Bytes> optimum =
        each.name == kProvenElsewhere ? std::optional(lower_bound(each.table.problem).bytes) : std::nullopt;
    csvs.add(each.name, {&each.table.problem}, optimum);
  }
  Group graphs("Graphs", options);
  Group generated("Generated", options);
  for (const GraphInstance& each : graph_instances(options.selection))
    add_graph(each.path.empty() ? generated : graphs, each);
  for (const ProblemInstance& each : problem_instances(options.selection))
    generated.add(each.name, {&each.problem}, each.optimum);

  fmt::print("## Solvers\n\nEach cell: peak / bound in milliseconds (nodes). Searches have {} s. ",
             kSearchTime.count());
  fmt::print("Optimum: known from the generator or proven; also relative to the bound.\n\n");
  csvs.print();
  graphs.print();
  generated.print();
  print_ggml(graphs.instances());
  return limits_of(csvs.instances());
}

}  // namespace stowage::bench
