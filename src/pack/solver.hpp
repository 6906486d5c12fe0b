#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "pack/occupancy.hpp"
#include "stowage/pack.hpp"

/// The one interface that solvers implement, and the registry that they stand in. To add a solver: a file with a `SolveFunction`,
/// its declaration below, and a line in registry.cpp. The contract suite then runs on it by itself.
namespace stowage::pack {

/// A problem on the bench: what solvers share so that it is computed once. The problem has passed `check_problem`, its pins agree
/// with each other, and every item fits in some region.
class Bench {
 public:
  Bench(const Problem& problem, const SolveOptions& options, const Certificate& bound);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const SolveOptions& options() const { return options_; }
  [[nodiscard]] const Certificate& bound() const { return bound_; }
  [[nodiscard]] bool out_of_time() const;
  /// An empty occupancy of the kind that suits the problem. The bench must outlive it.
  [[nodiscard]] std::unique_ptr<Occupancy> new_occupancy() const;

 private:
  const Problem& problem_;
  const SolveOptions& options_;
  Certificate bound_;
  mutable std::once_flag found_meetings_;
  mutable std::optional<Meetings> meetings_;  ///< Found when first needed.
};

/// What a solver found: positions for every item and who found them, or nothing.
struct Found {
  std::vector<Position> positions;
  std::string_view solver;
};

/// Deterministic for a problem, seed and node budget. Nothing when it found no valid placement.
using SolveFunction = std::optional<Found> (*)(const Bench& bench);

struct RegisteredSolver {
  SolverInfo info;
  SolveFunction solve;
};

/// All of them, `auto` last.
[[nodiscard]] std::span<const RegisteredSolver> registry();

std::optional<Found> solve_online_best_fit(const Bench& bench);
std::optional<Found> solve_first_fit_by_size(const Bench& bench);
std::optional<Found> solve_first_fit_by_life(const Bench& bench);
std::optional<Found> solve_first_fit_by_area(const Bench& bench);
std::optional<Found> solve_best_fit_by_size(const Bench& bench);
std::optional<Found> solve_best_fit_by_life(const Bench& bench);
std::optional<Found> solve_auto(const Bench& bench);

}  // namespace stowage::pack
