#include "stowage/liveness.hpp"

#include "liveness/classes.hpp"

namespace stowage {

Liveness analyze(const Graph& graph, const LivenessOptions& options) {
  Liveness result;
  result.no_reuse = options.no_reuse;
  result.base = options.base;
  liveness::form_classes(graph, result);
  liveness::lay_out_in_time(graph, result);
  liveness::collect_accesses(graph, result);
  liveness::find_residences(graph, options, result);
  liveness::find_lives(graph, options, result);
  liveness::find_order(graph, result);
  liveness::form_storages(graph, options, result);
  return result;
}

}  // namespace stowage
