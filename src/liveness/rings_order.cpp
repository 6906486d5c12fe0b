#include <algorithm>
#include <map>

#include "graph/interface/dependencies.hpp"
#include "graph/interface/relations.hpp"
#include "liveness/classes.hpp"

/// What prefetch rings add to the order: whoever takes a range waits for those who used it.
namespace stowage::liveness {
namespace {

/// The op of the root that a step belongs to.
OpId root_op(const Graph& graph, OpId op) {
  while (graph.scope_of(op).index() != 0) op = graph.scope(graph.scope_of(op)).op;
  return op;
}

/// The last unordered access on each stream of what `range` evicts, before the step at which it is filled.
void add_edges(const Graph& graph, const Liveness& result, const RingRange& range, TensorId evicted, std::vector<Edge>& edges) {
  const std::span<const Step> accesses = result.accesses(result.places[evicted.index()].id);
  for (const Interval& span : result.timeline.spans(range.op)) {
    const std::uint32_t batch = result.timeline.moments[static_cast<std::size_t>(span.lower.value())].batch;
    std::map<std::size_t, OpId> last;  // by stream
    for (const Step access : accesses) {
      const Moment& moment = result.timeline.moments[static_cast<std::size_t>(access.value())];
      const bool other_batch = moment.batch != 0 && batch != 0 && moment.batch != batch;
      if (access >= span.lower || other_batch || result.order.before(access, span.lower)) continue;
      last[result.order.stream(access)] = root_op(graph, moment.op);
    }
    for (const auto& [stream, op] : last) edges.push_back({op, range.op});
  }
}

}  // namespace

void find_order(const Graph& graph, Liveness& result) {
  if (graph.stream_count() == 1) return;
  const Dependencies dependencies = find_dependencies(graph, WantedDependencies::waited_for);
  result.order = HappensBefore(graph, result.timeline, dependencies, {});
  const std::vector<RingRange>& ranges = graph.relations().ring_ranges;
  for (const RingRange& range : ranges) {
    for (const std::size_t evicted : range.evicted) add_edges(graph, result, range, ranges[evicted].tensor, result.edges);
  }
  if (result.edges.empty()) return;
  std::sort(result.edges.begin(), result.edges.end());
  result.edges.erase(std::unique(result.edges.begin(), result.edges.end()), result.edges.end());
  result.order = HappensBefore(graph, result.timeline, dependencies, result.edges);
}

}  // namespace stowage::liveness
