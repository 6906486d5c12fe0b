#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "exit.hpp"
#include "minimalloc.hpp"
#include "sections.hpp"
#include "stowage/pack.hpp"
#include "table.hpp"

/// One question, asked with several seeds: is there an answer within a capacity? The first capacity is that of the
/// file; the second is the bound, where an answer is optimal.
namespace stowage::bench {
namespace {

/// Results for one file at one capacity.
struct Asked {
  std::string name;
  Bytes capacity;
  std::vector<double> times;         ///< Per seed; milliseconds until the answer, or until it gave up.
  std::vector<std::uint64_t> nodes;  ///< Per seed.
  std::size_t solved = 0;            ///< Number of seeds with an answer.
  std::optional<PeerRun> peer = {};

  [[nodiscard]] double worst() const { return *std::max_element(times.begin(), times.end()); }
  [[nodiscard]] bool always_solved() const { return solved == times.size(); }
  /// If so, the median is the time of a seed with an answer.
  [[nodiscard]] bool mostly_solved() const { return 2 * solved > times.size(); }
};

Asked ask(const CsvInstance& instance, Bytes capacity, const Options& options) {
  Problem problem = instance.table.problem;
  Asked asked{.name = instance.name, .capacity = capacity, .times = {}, .nodes = {}};
  if (!options.minimalloc.empty()) {
    const MiniMalloc peer(options.minimalloc);
    asked.peer = value_or_exit(peer.run_file(instance.path, problem, capacity, 6 * options.effort.patience));
  }
  problem.capacity = capacity;
  for (std::uint64_t seed = 0; seed < options.effort.seeds; ++seed) {
    const Clock::time_point begin = Clock::now();
    SolveOptions how;
    how.seed = seed;
    how.deadline = begin + options.effort.patience;
    const SolveOutcome outcome = value_or_exit(solve(problem, how));
    asked.times.push_back(milliseconds_since(begin));
    asked.nodes.push_back(outcome.nodes);
    if (outcome.has_answer()) ++asked.solved;
  }
  return asked;
}

/// "12.3", or "> 1000" if it gave up after that time.
std::string time_cell(double milliseconds, bool solved) { return (solved ? "" : "> ") + to_text(milliseconds); }

/// Per seed, the sum over all files.
std::vector<double> sums_of(const std::vector<Asked>& all) {
  std::vector<double> sums(all.front().times.size());
  for (const Asked& asked : all) {
    for (std::size_t seed = 0; seed < sums.size(); ++seed) sums[seed] += asked.times[seed];
  }
  return sums;
}

std::vector<std::string> peer_cells(const Asked& asked, bool wanted) {
  if (!wanted) return {};
  const PeerRun& peer = *asked.peer;
  const std::string times = fmt::format("{}{:.1f}", peer.solved ? "" : "> ", peer.own / median(asked.times));
  return {time_cell(peer.own, peer.solved), time_cell(peer.wall, peer.solved), asked.mostly_solved() ? times : "–"};
}

/// Sums over the files that every seed, and the peer, solved.
void print_sums(std::vector<Asked> all) {
  std::erase_if(all, [](const Asked& asked) { return !asked.always_solved() || (asked.peer && !asked.peer->solved); });
  if (all.empty()) return;
  const std::vector<double> sums = sums_of(all);
  const double worst = *std::max_element(sums.begin(), sums.end());
  double medians = 0;
  double peer = 0;
  for (const Asked& asked : all) {
    medians += median(asked.times);
    peer += asked.peer.value_or(PeerRun{}).own;
  }
  fmt::print(
      "Sum over the {} files that were always solved: {} in the median of the seeds, {} with the worst, "
      "{} as the sum of medians.",
      all.size(), to_text(median(sums)), to_text(worst), to_text(medians));
  if (peer > 0) {
    fmt::print(
        " MiniMalloc: {} by its own clock, **{:.1f} times** our sum of medians, **{:.1f} times** our worst seed's sum.",
        to_text(peer), peer / medians, peer / worst);
  }
  fmt::print("\n\n");
}

void print(const std::vector<Asked>& all, bool with_peer) {
  std::vector<std::string> header = {"file",  "capacity",      "seeds that fit", "median",
                                     "worst", "nodes, median", "nodes, worst"};
  if (with_peer) header.insert(header.end(), {"MiniMalloc, own clock", "wall", "times our median"});
  Table table(std::move(header));
  for (const Asked& asked : all) {
    std::vector<std::string> row = {asked.name,
                                    with_commas(asked.capacity.value()),
                                    fmt::format("{} of {}", asked.solved, asked.times.size()),
                                    time_cell(median(asked.times), asked.mostly_solved()),
                                    time_cell(asked.worst(), asked.always_solved()),
                                    std::to_string(median(asked.nodes)),
                                    std::to_string(*std::max_element(asked.nodes.begin(), asked.nodes.end()))};
    for (std::string& cell : peer_cells(asked, with_peer)) row.push_back(std::move(cell));
    table.add(std::move(row));
  }
  table.print();
  print_sums(all);
}

}  // namespace

std::vector<Limited> bench_challenging(const Options& options) {
  std::vector<Asked> given;
  std::vector<Asked> at_bound;
  for (const CsvInstance& instance : csv_instances(options.selection)) {
    if (!instance.capacity) continue;
    given.push_back(ask(instance, *instance.capacity, options));
    const Bytes bound = lower_bound(instance.table.problem).bytes;
    at_bound.push_back(bound == *instance.capacity ? given.back() : ask(instance, bound, options));
  }
  if (given.empty()) return {};
  const bool with_peer = !options.minimalloc.empty();
  fmt::print("## Challenging\n\nMiniMalloc's challenging set, `auto`, one thread, {} seeds, {} s for each",
             options.effort.seeds, options.effort.patience.count());
  fmt::print("{}.\n\n", with_peer ? fmt::format(" (MiniMalloc {} s)", 6 * options.effort.patience.count()) : "");
  fmt::print("### Within the file's capacity\n\n");
  print(given, with_peer);
  fmt::print("### At the bound\n\n");
  print(at_bound, with_peer);
  return {};
}

}  // namespace stowage::bench
