#include <algorithm>
#include <limits>

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

/// Without a deadline nor a budget of its own a search ends some time: after some tenths of a second.
constexpr std::uint64_t kDefaultNodes = 200'000;

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
    pinned.order.append_row(problem.order, i);
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

}  // namespace

Bench::Bench(const Problem& problem, const SolveOptions& options, const Certificate& bound)
    : problem_(problem), options_(options), bound_(bound) {
  const std::uint64_t otherwise = options.deadline ? std::numeric_limits<std::uint64_t>::max() : kDefaultNodes;
  node_budget_ = options.node_budget.value_or(otherwise);
}

const Plain* Bench::plain() const {
  if (!plain_) plain_ = Plain::from(problem_);
  return *plain_ ? &**plain_ : nullptr;
}

std::unique_ptr<Occupancy> Bench::new_occupancy() const {
  if (!meetings_) meetings_ = Meetings::find(problem_, meetings_limit(problem_.items.size()));
  if (*meetings_) return make_list_occupancy(problem_, **meetings_);
  const bool flat = problem_.items.size() <= kFlatItems || !problem_.order.empty();
  return flat ? make_flat_occupancy(problem_) : make_tree_occupancy(problem_);
}

bool Bench::offer(std::vector<Position> positions, std::string_view solver) {
  const Bytes peak = peak_of(problem_, positions);
  if (peak >= peak_) return false;
  const std::optional<Violation> wrong = validate(problem_, positions);
  STOWAGE_CHECK(!wrong, wrong->message.c_str());
  peak_ = peak;
  positions_ = std::move(positions);
  solver_ = solver;
  if (options_.on_better) options_.on_better(outcome());
  return true;
}

void Bench::prove(const Certificate& certificate) {
  if (certificate.bytes > bound_.bytes) bound_ = certificate;
}

bool Bench::finished() const {
  if (peak_ <= bound_.bytes || infeasible_ || stop_requested()) return true;
  return problem_.capacity && (peak_ <= *problem_.capacity || bound_.bytes > *problem_.capacity);
}

bool Bench::stop_requested() const {
  if (options_.stop.stop_requested()) return true;
  return options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline;
}

bool Bench::needs_any() const { return peak_ > kMaxBytes && !infeasible_ && !options_.stop.stop_requested(); }

SolveOutcome Bench::outcome() const {
  SolveOutcome outcome{.status = SolveStatus::timed_out,
                       .positions = positions_,
                       .peak = {},
                       .bound = bound_,
                       .solver = std::string(solver_),
                       .nodes = nodes_};
  const bool found = peak_ <= kMaxBytes;
  if (found) outcome.peak = peak_;
  if (infeasible_ || (problem_.capacity && bound_.bytes > *problem_.capacity)) {
    outcome.status = SolveStatus::infeasible;
  } else if (found && !(problem_.capacity && peak_ > *problem_.capacity)) {
    outcome.status = peak_ == bound_.bytes ? SolveStatus::optimal : SolveStatus::feasible;
  }
  return outcome;
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
    return SolveOutcome{.status = SolveStatus::infeasible, .positions = {}, .peak = {}, .bound = bound, .solver = {}, .nodes = 0};
  }
  pack::Bench bench(problem, options, bound);
  solver->solve(bench);
  return bench.outcome();
}

}  // namespace stowage
