#pragma once

#include <vector>

#include "liveness/interface/accesses.hpp"
#include "liveness/interface/happens_before.hpp"
#include "liveness/interface/sharing.hpp"
#include "liveness/interface/timeline.hpp"

namespace stowage {

/// The happens-before relation of the steps, including what prefetch rings add: an op that fills a range of a ring
/// waits for the ops that used that range before.
struct Order {
  std::vector<Edge> edges;  ///< The edges that prefetch rings need, ascending.
  HappensBefore steps;      ///< The order with these edges.
};

[[nodiscard]] Order find_order(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                               const Accesses& accesses);

}  // namespace stowage
