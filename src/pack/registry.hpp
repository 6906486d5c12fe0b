#pragma once

#include <span>

#include "pack/bench.hpp"
#include "stowage/pack.hpp"

/// The interface that solvers implement, and the registry that lists them. To add a solver: a file that defines `void
/// solve_<name>(Bench&)`, and a line in registry.cpp. The contract suite then runs on it automatically.
namespace stowage::pack {

/// Offers the answers that it finds. Deterministic for a problem, seed and node budget.
using SolveFunction = void (*)(Bench& bench);

/// How a solver works, and when `auto` uses it.
enum class SolverKind : std::uint8_t {
  /// One pass, about O(n log n) even with stream order. `auto` runs it on every problem that is not plain.
  quick,
  /// One pass, O(n²) with stream order. `auto` runs it on the same problems, unless there is a stream order and too
  /// many items.
  greedy,
  on_request,  ///< One pass. Runs only when requested by name.
  search,      ///< Keeps improving until a deadline or its node budget ends it.
};

/// The problems that a solver accepts. For any other problem, `solve` runs `first_fit_by_size` instead.
enum class Accepts : std::uint8_t {
  plain,  ///< One piece per item, one region without a limit, and no further rules (plain.hpp).
  any,
};

struct RegisteredSolver {
  SolverInfo info;
  SolverKind kind;
  Accepts accepts;
  SolveFunction solve;

  [[nodiscard]] bool takes(const Bench& bench) const { return accepts == Accepts::any || bench.plain() != nullptr; }
};

/// All solvers, `auto` last.
[[nodiscard]] std::span<const RegisteredSolver> registry();

}  // namespace stowage::pack
