#pragma once

#include <optional>
#include <string>

#include "liveness/interface/order.hpp"
#include "liveness/interface/sharing.hpp"
#include "liveness/interface/timeline.hpp"

namespace stowage {

/// Two accesses to the same bytes of one value, on different streams, at least one of them a write, that nothing
/// orders. What such a graph computes is a matter of chance, with any plan.
struct Race {
  struct Access {
    OpId op;
    TensorId tensor;
    bool writes;
  };
  Access first;  ///< In the graph's order.
  Access second;
};

/// A race of the graph, if there is one. Everything else is what the analysis of the graph says. O(accesses × streams)
/// for each batch, except for values that very many unordered ops write in parts. Thread-safe.
[[nodiscard]] std::optional<Race> find_race(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                                            const Order& order);

/// A race in a sentence that names both ops and tensors, and says what to do.
[[nodiscard]] std::string describe(const Race& race, const Graph& graph);

}  // namespace stowage
