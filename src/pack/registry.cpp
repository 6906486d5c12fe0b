#include "pack/registry.hpp"

#include <array>

namespace stowage::pack {

/// One line per solver: name, kind, what it accepts, a line for people. The one-pass ones stand in the order in which
/// `auto` runs them: first the cheapest by far, so that there is an answer whatever the deadline, then those that are
/// most often right.
#define STOWAGE_SOLVERS(SOLVER)                                                                                  \
  SOLVER(online_best_fit, quick, any, "in order of begin, tightest gap (ggml's)")                                \
  SOLVER(first_fit_by_size, greedy, any, "largest first, lowest gap (TFLite Micro's)")                           \
  SOLVER(best_fit_by_size, greedy, any, "largest first, tightest gap (TFLite's, XLA's spatial)")                 \
  SOLVER(first_fit_by_area, greedy, any, "largest bytes × steps first, lowest gap")                              \
  SOLVER(first_fit_by_life, greedy, any, "longest life first, lowest gap")                                       \
  SOLVER(best_fit_by_life, greedy, any, "longest life first, tightest gap (XLA's temporal)")                     \
  SOLVER(blocks, on_request, any, "blocks of a size class, taken over and nested (GE's); has knobs")             \
  SOLVER(skyline, greedy, plain, "lowest valley first, what is most urgent there; best of seven priorities")     \
  SOLVER(perturbed, search, plain, "the skyline again and again, with changed priorities in the hard core")      \
  SOLVER(neighbourhood, search, plain, "what ends above a target finds another place, at the expense of others") \
  SOLVER(exact, search, any, "search at a target, from the skyline down to a proof")                             \
  SOLVER(auto, search, any, "what suits the problem, best of all, until proven optimal")

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
