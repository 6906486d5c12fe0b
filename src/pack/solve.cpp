#include <algorithm>

#include <fmt/format.h>

#include "pack/greedy/greedy.hpp"
#include "pack/joined_solve.hpp"
#include "pack/registry.hpp"
#include "pack/subproblem.hpp"

namespace stowage {
namespace pack {
namespace {

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

bool fits_somewhere(const Problem& problem, const Item& item) {
  for (std::size_t r = 0; r < problem.regions.size(); ++r) {
    const std::optional<Bytes> limit = problem.regions[r].limit;
    if (item.may_lie_in(r) && (!limit || item.size <= *limit)) return true;
  }
  return false;
}

/// Whether the problem is infeasible for a reason that needs no solver.
bool evidently_infeasible(const Problem& problem, const Certificate& bound) {
  if (problem.capacity && bound.bytes > *problem.capacity) return true;
  if (!pins_hold(problem)) return true;
  return !std::all_of(problem.items.begin(), problem.items.end(),
                      [&](const Item& item) { return fits_somewhere(problem, item); });
}

}  // namespace

bool pins_hold(const Problem& problem) {
  std::vector<std::size_t> pinned;
  std::vector<Position> positions;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (!item.pinned) continue;
    pinned.push_back(i);
    positions.push_back({item.allowed.empty() ? 0 : item.allowed.front(), *item.pinned});
  }
  return pinned.empty() || !validate(subproblem(problem, pinned), positions);
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
    return Error{ErrorCode::unknown_name,
                 fmt::format("there is no solver '{}'; the solvers are {}", options.solver, pack::solver_names()),
                 {}};
  }
  const Certificate bound = lower_bound(problem);
  if (pack::evidently_infeasible(problem, bound)) {
    return SolveOutcome{
        .status = SolveStatus::infeasible, .positions = {}, .peak = {}, .bound = bound, .solver = {}, .nodes = 0};
  }
  pack::Bench bench(problem, options, bound);
  if (!problem.joins.empty()) {
    pack::solve_joined(*solver, bench);
  } else {
    solver->takes(bench) ? solver->solve(bench) : pack::solve_first_fit_by_size(bench);
  }
  return bench.outcome();
}

}  // namespace stowage
