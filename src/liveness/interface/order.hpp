#pragma once

#include <vector>

#include "liveness/interface/accesses.hpp"
#include "liveness/interface/happens_before.hpp"
#include "liveness/interface/sharing.hpp"
#include "liveness/interface/timeline.hpp"

namespace stowage {

/// Which step happens before which, with what prefetch rings add: whoever fills a range of a ring waits for those who
/// used it.
struct Order {
  std::vector<Edge> edges;  ///< That prefetch rings need, ascending.
  HappensBefore steps;      ///< With them.
};

[[nodiscard]] Order find_order(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                               const Accesses& accesses);

}  // namespace stowage
