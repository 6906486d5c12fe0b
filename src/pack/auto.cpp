#include "pack/solver.hpp"

namespace stowage::pack {

namespace {

/// Everything on top of each other, in order. The answer where nothing can share (constants, a graph planned without reuse),
/// found without looking at a single pair.
std::optional<Found> stack_if_optimal(const Bench& bench) {
  const Problem& problem = bench.problem();
  if (problem.regions.size() != 1 || problem.regions.front().limit) return std::nullopt;
  Found found{{}, "stacked"};
  Bytes top;
  for (const Item& item : problem.items) {
    if (item.pinned) return std::nullopt;
    found.positions.push_back({0, align_up(top, item.alignment)});
    top = found.positions.back().offset + item.size;
    if (top > bench.bound().bytes) return std::nullopt;
  }
  return found;
}

}  // namespace

/// The best of all, in the registry's order, until one reaches the bound or time runs out. Ties go to the earlier one.
std::optional<Found> solve_auto(const Bench& bench) {
  if (std::optional<Found> stacked = stack_if_optimal(bench)) return stacked;
  std::optional<Found> best;
  Bytes best_peak;
  for (const RegisteredSolver& solver : registry()) {
    if (solver.solve == &solve_auto) continue;
    if (best && (best_peak == bench.bound().bytes || bench.out_of_time())) break;
    std::optional<Found> found = solver.solve(bench);
    if (!found) continue;
    const Bytes peak = peak_of(bench.problem(), found->positions);
    if (best && peak >= best_peak) continue;
    best = std::move(found);
    best_peak = peak;
  }
  return best;
}

}  // namespace stowage::pack
