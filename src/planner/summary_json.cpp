#include <string>

#include "files/interface/json_writer.hpp"
#include "stowage/planner.hpp"

namespace stowage {
namespace {

files::OrderedJson arena_to_json(const Summary::ArenaLine& arena) {
  return {{"name", arena.name},
          {"memory", arena.memory},
          {"kind", arena.kind},
          {"size", arena.size.value()},
          {"lower_bound", arena.lower_bound.value()},
          {"proven_optimal", arena.proven_optimal}};
}

}  // namespace

std::string summary_to_json(const Summary& summary) {
  files::OrderedJson arenas = files::OrderedJson::array();
  for (const Summary::ArenaLine& arena : summary.arenas) arenas.push_back(arena_to_json(arena));
  const files::OrderedJson json{{"schema", "stowage.summary/1"},
                                {"name", summary.name},
                                {"ops", summary.ops},
                                {"tensors", summary.tensors},
                                {"items", summary.items},
                                {"peak_bytes", summary.peak.value()},
                                {"lower_bound_bytes", summary.lower_bound.value()},
                                {"naive_bytes", summary.naive.value()},
                                {"weights_bytes", summary.weights.value()},
                                {"folded_bytes", summary.folded.value()},
                                {"total_bytes", summary.total.value()},
                                {"proven_optimal", summary.proven_optimal},
                                {"padding", to_string(summary.padding)},
                                {"status", summary.status},
                                {"solver", summary.solver},
                                {"solve_ms", summary.solve_ms},
                                {"waits", summary.cost.waits},
                                {"fills", summary.cost.fills},
                                {"filled_bytes", summary.cost.filled.value()},
                                {"copies", summary.cost.copies},
                                {"copied_bytes", summary.cost.copied.value()},
                                {"arenas", arenas}};
  return files::to_line(json) + "\n";
}

}  // namespace stowage
