#include "pack/joined_solve.hpp"

#include <chrono>
#include <utility>

#include "pack/exact/exact.hpp"
#include "pack/greedy/greedy.hpp"
#include "pack/interface/contraction.hpp"

namespace stowage::pack {
namespace {

/// What the contracted problem may use of the time and the nodes that are left: a half, so that the other half remains
/// for the search over all choices.
constexpr int kShare = 2;

class JoinedSolve {
 public:
  JoinedSolve(const RegisteredSolver& solver, Bench& bench)
      : solver_(solver), bench_(bench), contraction_(contract(bench.problem())) {}

  void run() {
    const bool searches = solver_.info.searches;
    solve_contracted(searches ? kShare : 1);
    if (!searches || bench_.finished()) return;
    search_general(bench_);
    if (!bench_.finished() && bench_.nodes_left() > 0) solve_contracted(1);
  }

 private:
  void solve_contracted(int share) {
    SolveOptions options = bench_.options();
    options.node_budget = bench_.nodes_left() / static_cast<std::uint64_t>(share);
    if (const auto deadline = options.deadline) {
      const auto now = std::chrono::steady_clock::now();
      if (*deadline > now) options.deadline = now + (*deadline - now) / share;
    }
    options.on_better = [&](const SolveOutcome& better) {
      bench_.offer(contraction_.expand(better.positions), better.solver);
    };
    if (!pins_hold(contraction_.problem)) return;  // some pins depend on joins
    Bench part(contraction_.problem, options, lower_bound(contraction_.problem));
    solver_.takes(part) ? solver_.solve(part) : solve_first_fit_by_size(part);
    const SolveOutcome outcome = part.outcome();
    bench_.spend(outcome.nodes);
    if (!outcome.positions.empty()) bench_.offer(contraction_.expand(outcome.positions), outcome.solver);
  }

  const RegisteredSolver& solver_;
  Bench& bench_;
  Contraction contraction_;
};

}  // namespace

void solve_joined(const RegisteredSolver& solver, Bench& bench) { JoinedSolve(solver, bench).run(); }

}  // namespace stowage::pack
