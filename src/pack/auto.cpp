#include "pack/exact/exact.hpp"
#include "pack/greedy/by_stream.hpp"
#include "pack/greedy/skyline.hpp"
#include "pack/registry.hpp"

namespace stowage::pack {
namespace {

/// Stacks all items in order. That is optimal when nothing can share (constants, a graph planned without reuse), and it
/// is found without looking at any pair.
bool stack_if_optimal(Bench& bench) {
  const Problem& problem = bench.problem();
  if (problem.regions.size() != 1 || problem.regions.front().limit) return false;
  std::vector<Position> positions;
  Bytes top;
  for (const Item& item : problem.items) {
    if (item.pinned) return false;
    positions.push_back({0, align_up(top, item.alignment)});
    top = positions.back().offset + item.size;
    if (top > bench.bound()) return false;
  }
  return bench.offer(std::move(positions), "stacked");
}

/// With stream order, finding where an item may go takes a scan of everything placed so far (flat_occupancy.cpp). With
/// more items than this, that takes too long.
constexpr std::size_t kMaxOrderedItems = 16'384;

void try_greedily(Bench& bench) {
  const bool ordered = !bench.problem().order.empty();
  if (ordered) solve_by_stream(bench);
  const bool few = !ordered || bench.problem().items.size() <= kMaxOrderedItems;
  for (const RegisteredSolver& solver : registry()) {
    const bool wanted = solver.kind == SolverKind::quick || (solver.kind == SolverKind::greedy && few);
    if (wanted && solver.takes(bench) && (bench.needs_any() || !bench.finished())) solver.solve(bench);
  }
}

}  // namespace

/// 1. Stacks everything, if that is optimal.
/// 2. Plain problem: the skyline, which usually reaches the bound. Any other: every greedy order.
/// 3. Continues with the exact search; if the problem is too large for it, alternates repairs and the perturbed
///    skyline.
void solve_auto(Bench& bench) {
  if (stack_if_optimal(bench)) return;
  bench.plain() ? solve_skyline_and_core(bench) : try_greedily(bench);
  if (!bench.finished()) solve_exact(bench);
}

}  // namespace stowage::pack
