#include <algorithm>
#include <array>

#include "pack/solver.hpp"

namespace stowage::pack {
namespace {

/// The greedy ones in the order in which `auto` runs them: first the cheapest by far, so that there is an answer whatever the
/// deadline, then those that are most often right.
constexpr std::array kRegistry = {
    RegisteredSolver{{"online_best_fit", "in order of begin, tightest gap (ggml's)"}, &solve_online_best_fit},
    RegisteredSolver{{"first_fit_by_size", "largest first, lowest gap (TFLite Micro's)"}, &solve_first_fit_by_size},
    RegisteredSolver{{"best_fit_by_size", "largest first, tightest gap (TFLite's, XLA's spatial)"}, &solve_best_fit_by_size},
    RegisteredSolver{{"first_fit_by_area", "largest bytes × steps first, lowest gap"}, &solve_first_fit_by_area},
    RegisteredSolver{{"first_fit_by_life", "longest life first, lowest gap"}, &solve_first_fit_by_life},
    RegisteredSolver{{"best_fit_by_life", "longest life first, tightest gap (XLA's temporal)"}, &solve_best_fit_by_life},
    RegisteredSolver{{"blocks", "blocks of a size class, taken over and nested (GE's); has knobs"}, &solve_blocks},
    RegisteredSolver{{"skyline", "lowest valley first, what is most urgent there; best of seven priorities"}, &solve_skyline},
    RegisteredSolver{{"perturbed", "the skyline again and again, with changed priorities in the hard core", true},
                     &solve_perturbed},
    RegisteredSolver{{"neighbourhood", "what ends above a target finds another place, at the expense of others", true},
                     &solve_neighbourhood},
    RegisteredSolver{{"exact", "search at a target, from the skyline down to a proof", true}, &solve_exact},
    RegisteredSolver{{"auto", "what suits the problem, best of all, until proven optimal", true}, &solve_auto},
};

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
