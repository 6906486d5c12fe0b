#pragma once

#include "lower/interface/lower.hpp"
#include "pack/interface/contraction.hpp"
#include "stowage/pack/replanner.hpp"
#include "stowage/planner.hpp"

namespace stowage {

/// A previous plan translated to a new Problem: the previous positions of its storages and workspaces.
struct PreviousOfArena {
  PreviousAnswer answer;
  std::vector<std::size_t> kept;  ///< Items that must stay where they were.
};

/// Precondition: `options.previous` has a plan. The previous position of a storage is that of its first tensor that the
/// previous plan places in an arena of the same memory and kind.
[[nodiscard]] PreviousOfArena previous_of(const PlanOptions& options, const Graph& graph, const Layout& layout,
                                          const ArenaProblem& arena);

/// Replaces the items in an error of `Replanner` by the names of tensors and workspaces.
[[nodiscard]] Error in_words_of_graph(Error error, const Graph& graph, const Layout& layout, const ArenaProblem& arena);

/// An arena without joins, and the previous plan in terms of it.
struct ContractedArena {
  pack::Contraction contraction;
  ArenaProblem arena;
  PreviousOfArena previous;
};
[[nodiscard]] ContractedArena contract_arena(const ArenaProblem& arena, const PreviousOfArena& previous);

}  // namespace stowage
