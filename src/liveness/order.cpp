#include "liveness/interface/order.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "graph/interface/dependencies.hpp"
#include "graph/interface/relations.hpp"

namespace stowage {
namespace {

/// The root op that contains `op`, or `op` itself.
OpId root_op(const Graph& graph, OpId op) {
  while (graph.scope_of(op).index() != 0) op = graph.scope(graph.scope_of(op)).op;
  return op;
}

/// An op that fills a range of a ring, and the steps that accessed the evicted tensor (ascending).
struct Eviction {
  OpId op;
  std::span<const Step> accesses;
};

/// Adds edges from the last unordered access on each stream to the op that fills the range.
void add_edges(const Graph& graph, const Timeline& timeline, const HappensBefore& order, const Eviction& eviction,
               std::vector<Edge>& edges) {
  for (const Interval& span : timeline.spans(eviction.op)) {
    const std::uint32_t batch = timeline.at(span.lower).batch;
    std::map<std::size_t, OpId> last;  // by stream
    for (const Step access : eviction.accesses) {
      const Moment& moment = timeline.at(access);
      const bool other_batch = moment.batch != 0 && batch != 0 && moment.batch != batch;
      if (access >= span.lower || other_batch || order.before(access, span.lower)) continue;
      last[order.stream(access)] = root_op(graph, moment.op);
    }
    for (const auto& [stream, op] : last) edges.push_back({op, eviction.op});
  }
}

/// The edges that order something which the graph alone does not order, in some batch. (The order over all batches at
/// once is weaker than that of each batch, because it must hold in all of them.)
std::vector<Edge> needed_edges(const Graph& graph, const Timeline& timeline, const Dependencies& dependencies,
                               const std::vector<Edge>& edges) {
  if (graph.batches().empty()) return edges;
  std::set<Edge> needed;
  for (std::uint32_t batch = 1; batch <= graph.batches().size(); ++batch) {
    const Timeline run = run_of(timeline, batch);
    const HappensBefore order(graph, run, dependencies.in_run(graph, batch), {});
    std::map<OpId, Interval> steps;
    for (std::size_t k = 0; k < run.moments.size(); ++k) {
      if (run.moments[k].kind == Moment::Kind::start) continue;
      const Step step(static_cast<std::int64_t>(k));
      const auto [entry, is_first] = steps.try_emplace(root_op(graph, run.moments[k].op), step, step + Step(1));
      if (!is_first) entry->second.upper = step + Step(1);
    }
    for (const Edge& edge : edges) {
      const auto from = steps.find(edge.from);
      const auto to = steps.find(edge.to);
      if (from == steps.end() || to == steps.end()) continue;
      if (!order.before(from->second.upper - Step(1), to->second.lower)) needed.insert(edge);
    }
  }
  return {needed.begin(), needed.end()};
}

}  // namespace

Order find_order(const Graph& graph, const Sharing& sharing, const Timeline& timeline, const Accesses& accesses) {
  if (graph.stream_count() == 1) return {};
  const Dependencies dependencies = find_dependencies(graph, WantedDependencies::waited_for);
  HappensBefore without_rings(graph, timeline, dependencies, {});
  std::vector<Edge> edges;
  const std::vector<RingRange>& ranges = graph.relations().ring_ranges;
  for (const RingRange& range : ranges) {
    for (const std::size_t evicted : range.evicted) {
      const ClassId id = sharing.class_of(ranges[evicted].tensor);
      add_edges(graph, timeline, without_rings, {range.op, accesses[id]}, edges);
    }
  }
  if (edges.empty()) return {{}, std::move(without_rings)};
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  HappensBefore with_rings(graph, timeline, dependencies, edges);
  return {needed_edges(graph, timeline, dependencies, edges), std::move(with_rings)};
}

}  // namespace stowage
