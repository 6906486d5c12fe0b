#pragma once

#include <span>

#include "pack/bench.hpp"
#include "stowage/pack.hpp"

/// The one interface that solvers implement, and the registry that they stand in. To add a solver: a file that defines
/// `void solve_<name>(Bench&)`, and a line in registry.cpp. The contract suite then runs on it by itself.
namespace stowage::pack {

/// Offers what it finds. Deterministic for a problem, seed and node budget.
using SolveFunction = void (*)(Bench& bench);

/// How a solver works, and so what `auto` does with it.
enum class SolverKind : std::uint8_t {
  quick,       ///< One pass, about O(n log n) with stream order too. `auto` runs it on every problem that is not plain.
  greedy,      ///< One pass, O(n²) with stream order. `auto` runs it too, unless there is a stream order and too many
               ///< items.
  on_request,  ///< One pass. Only for who names it.
  search,      ///< Goes on improving until a deadline or its node budget ends it.
};

/// The problems that a solver takes. Where it is named for another, `solve` runs `first_fit_by_size` instead.
enum class Accepts : std::uint8_t {
  plain,  ///< One piece per item, one region without a limit, no pins, no stream order (plain.hpp).
  any,
};

struct RegisteredSolver {
  SolverInfo info;
  SolverKind kind;
  Accepts accepts;
  SolveFunction solve;

  [[nodiscard]] bool takes(const Bench& bench) const { return accepts == Accepts::any || bench.plain() != nullptr; }
};

/// All of them, `auto` last.
[[nodiscard]] std::span<const RegisteredSolver> registry();

}  // namespace stowage::pack
