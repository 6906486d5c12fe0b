#include "pack/exact/exact.hpp"
#include "pack/greedy/by_stream.hpp"
#include "pack/improve/skyline.hpp"
#include "pack/registry.hpp"

namespace stowage::pack {
namespace {

/// Everything on top of each other, in order. The answer where nothing can share (constants, a graph planned without
/// reuse), found without looking at a single pair.
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

/// With stream order nothing but a look at all that was placed tells where an item may go (flat_occupancy.cpp). Above
/// so many items that takes too long.
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

/// 1. What needs no thought.
/// 2. A plain problem: the skyline, which mostly reaches the bound. Any other: every greedy order.
/// 3. From there the exact search, or where that is too large repairs and the perturbed skyline in turns.
void solve_auto(Bench& bench) {
  if (stack_if_optimal(bench)) return;
  bench.plain() ? solve_skyline(bench) : try_greedily(bench);
  if (!bench.finished()) solve_exact(bench);
}

}  // namespace stowage::pack
