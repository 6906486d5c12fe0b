#pragma once

#include <optional>
#include <string>

#include "liveness/interface/order.hpp"
#include "liveness/interface/sharing.hpp"
#include "liveness/interface/timeline.hpp"

namespace stowage {

/// A data race: two unordered accesses to the same bytes of one value, on different streams, at least one of them a
/// write. The result of such a graph is undefined, with any plan.
struct Race {
  struct Access {
    OpId op;
    TensorId tensor;
    bool writes;
  };
  Access first;  ///< In the graph's order.
  Access second;
};

/// Finds a race of the graph, if there is one. The other arguments are results of the analysis of the graph. O(accesses
/// × streams) per batch, except for values of which many unordered ops write parts. Thread-safe.
[[nodiscard]] std::optional<Race> find_race(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                                            const Order& order);

/// Describes a race in a sentence that names both ops and tensors, and says how to fix it.
[[nodiscard]] std::string describe(const Race& race, const Graph& graph);

}  // namespace stowage
