#include "pack/registry.hpp"

#include <array>

namespace stowage::pack {

/// One line per solver: name, kind, what it accepts, a one-line summary. Single-pass solvers are listed in the order in
/// which `auto` runs them: first the cheapest by far, so that there is an answer whatever the deadline, then those that
/// give the best answer most often.
#define STOWAGE_SOLVERS(SOLVER)                                                                                     \
  SOLVER(online_best_fit, quick, any, "in order of begin, tightest gap (as ggml does)")                             \
  SOLVER(first_fit_by_size, greedy, any, "largest first, lowest gap (as TFLite Micro does)")                        \
  SOLVER(best_fit_by_size, greedy, any, "largest first, tightest gap (as TFLite and XLA's spatial heap do)")        \
  SOLVER(first_fit_by_area, greedy, any, "largest bytes × steps first, lowest gap")                                 \
  SOLVER(first_fit_by_life, greedy, any, "longest life first, lowest gap")                                          \
  SOLVER(best_fit_by_life, greedy, any, "longest life first, tightest gap (as XLA's temporal heap does)")           \
  SOLVER(blocks, on_request, any, "reuses and nests blocks of size classes (as GE does); has knobs")                \
  SOLVER(skyline, greedy, plain, "fills valleys, the most urgent section first; best of seven priorities")          \
  SOLVER(perturbed, search, plain, "repeats the skyline with random priorities where the problem is tight")         \
  SOLVER(neighbourhood, search, plain, "repairs: moves items that end above a target, and others out of their way") \
  SOLVER(exact, search, any, "searches between the bound and the best peak, down to a proof")                       \
  SOLVER(auto, search, any, "the solvers that suit the problem; ends when an answer is proven optimal")

#define STOWAGE_DECLARE(name, kind, accepts, summary) void solve_##name(Bench& bench);
STOWAGE_SOLVERS(STOWAGE_DECLARE)
#undef STOWAGE_DECLARE

namespace {

#define STOWAGE_ENTRY(name, kind, accepts, summary) \
  RegisteredSolver{                                 \
      {#name, summary, SolverKind::kind == SolverKind::search}, SolverKind::kind, Accepts::accepts, &solve_##name},
constexpr std::array kRegistry = {STOWAGE_SOLVERS(STOWAGE_ENTRY)};
#undef STOWAGE_ENTRY

constexpr auto kInfos = [] {
  std::array<SolverInfo, kRegistry.size()> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kRegistry[i].info;
  return infos;
}();

}  // namespace

std::span<const RegisteredSolver> registry() { return kRegistry; }

}  // namespace stowage::pack

namespace stowage {

std::span<const SolverInfo> solvers() { return pack::kInfos; }

}  // namespace stowage
