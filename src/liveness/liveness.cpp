#include "stowage/liveness.hpp"

#include "liveness/classes.hpp"

namespace stowage {

Liveness analyze(const Graph& graph, const LivenessOptions& options) {
  Liveness result;
  result.no_reuse = options.no_reuse;
  liveness::form_classes(graph, result);
  liveness::collect_accesses(graph, result);
  liveness::find_lives(graph, options, result);
  result.order = HappensBefore(graph);
  liveness::form_storages(graph, options, result);
  return result;
}

}  // namespace stowage
