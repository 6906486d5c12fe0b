#pragma once

#include "lower/interface/lower.hpp"
#include "stowage/pack/replanner.hpp"
#include "stowage/planner.hpp"

namespace stowage {

/// A previous plan in the words of a new Problem: where its storages and workspaces were.
struct PreviousOfArena {
  PreviousAnswer answer;
  std::vector<std::size_t> kept;  ///< Items that must stay, of those that were somewhere.
};

/// A storage was where the first of its tensors was that the previous plan places in an arena of the same memory and
/// kind.
[[nodiscard]] PreviousOfArena previous_of(const PreviousPlan& previous, const Graph& graph, const Layout& layout,
                                          const ArenaProblem& arena);

/// An error of `Replanner` about an item, in the words of the graph.
[[nodiscard]] Error in_words_of_graph(Error error, const Graph& graph, const Layout& layout, const ArenaProblem& arena);

}  // namespace stowage
