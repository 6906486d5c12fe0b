#include <algorithm>

#include <fmt/format.h>

#include "pack/solver.hpp"

namespace stowage {
namespace pack {
namespace {

/// Up to this many items, reading all that was placed beats the tree (bench/README.md, "occupancy").
constexpr std::size_t kFlatItems = 8192;

/// Up to this many meetings their list is the cheapest index: it must be clearly shorter than reading all that was placed, and
/// never grow large. From the same measurement.
std::size_t meetings_limit(std::size_t items) { return items * std::min<std::size_t>(items / 48, 128); }

const RegisteredSolver* find_solver(std::string_view name) {
  const auto found = std::find_if(registry().begin(), registry().end(),
                                  [&](const RegisteredSolver& solver) { return solver.info.name == name; });
  return found == registry().end() ? nullptr : &*found;
}

std::string solver_names() {
  std::string names;
  for (const SolverInfo& info : solvers()) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

/// Pins that contradict each other or their region's limit leave nothing to search.
bool pins_hold(const Problem& problem) {
  Problem pinned{.items = {}, .regions = problem.regions, .order = {}, .capacity = {}};
  std::vector<Position> positions;
  pinned.order.streams = problem.order.streams;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (!item.pinned) continue;
    pinned.items.push_back(item);
    positions.push_back({item.allowed.only.empty() ? 0 : item.allowed.only.front(), *item.pinned});
    for (std::size_t s = 0; s < problem.order.streams; ++s) {
      pinned.order.threshold.push_back(problem.order.threshold[i * problem.order.streams + s]);
      pinned.order.first.push_back(problem.order.first[i * problem.order.streams + s]);
    }
  }
  return pinned.items.empty() || !validate(pinned, positions);
}

bool fits_somewhere(const Problem& problem, const Item& item) {
  for (std::size_t r = 0; r < problem.regions.size(); ++r) {
    const std::optional<Bytes> limit = problem.regions[r].limit;
    if (item.allowed.contains(r) && (!limit || item.size <= *limit)) return true;
  }
  return false;
}

/// Reasons for which no solver needs to look at the problem.
bool evidently_infeasible(const Problem& problem, const Certificate& bound) {
  if (problem.capacity && bound.bytes > *problem.capacity) return true;
  if (!pins_hold(problem)) return true;
  return !std::all_of(problem.items.begin(), problem.items.end(),
                      [&](const Item& item) { return fits_somewhere(problem, item); });
}

SolveOutcome outcome_of(const Problem& problem, const Certificate& bound, std::optional<Found> found) {
  SolveOutcome outcome{.status = SolveStatus::timed_out, .positions = {}, .peak = {}, .bound = bound, .solver = {}};
  if (!found) return outcome;
  const std::optional<Violation> wrong = validate(problem, found->positions);
  STOWAGE_CHECK(!wrong, wrong->message.c_str());
  outcome.positions = std::move(found->positions);
  outcome.peak = peak_of(problem, outcome.positions);
  outcome.solver = found->solver;
  if (problem.capacity && outcome.peak > *problem.capacity) return outcome;
  outcome.status = outcome.peak == bound.bytes ? SolveStatus::optimal : SolveStatus::feasible;
  return outcome;
}

}  // namespace

Bench::Bench(const Problem& problem, const SolveOptions& options, const Certificate& bound)
    : problem_(problem), options_(options), bound_(bound) {}

bool Bench::out_of_time() const { return options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline; }

std::unique_ptr<Occupancy> Bench::new_occupancy() const {
  std::call_once(found_meetings_, [&] { meetings_ = Meetings::find(problem_, meetings_limit(problem_.items.size())); });
  if (meetings_) return make_list_occupancy(problem_, *meetings_);
  const bool flat = problem_.items.size() <= kFlatItems || !problem_.order.empty();
  return flat ? make_flat_occupancy(problem_) : make_tree_occupancy(problem_);
}

}  // namespace pack

std::string_view to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::optimal:
      return "optimal";
    case SolveStatus::feasible:
      return "feasible";
    case SolveStatus::infeasible:
      return "infeasible";
    case SolveStatus::timed_out:
      return "timed_out";
  }
  return "unknown";
}

Result<SolveOutcome> solve(const Problem& problem, const SolveOptions& options) {
  STOWAGE_TRY_STATUS(check_problem(problem));
  const pack::RegisteredSolver* const solver = pack::find_solver(options.solver);
  if (!solver) {
    return Error{
        ErrorCode::unknown_name, fmt::format("there is no solver '{}'; there are {}", options.solver, pack::solver_names()), {}};
  }
  const Certificate bound = lower_bound(problem);
  if (pack::evidently_infeasible(problem, bound)) {
    return SolveOutcome{.status = SolveStatus::infeasible, .positions = {}, .peak = {}, .bound = bound, .solver = {}};
  }
  const pack::Bench bench(problem, options, bound);
  return pack::outcome_of(problem, bound, solver->solve(bench));
}

}  // namespace stowage
