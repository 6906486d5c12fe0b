#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/interface/data_sources.hpp"
#include "lower/duties.hpp"
#include "lower/start_fills.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// What waits or is waited for: an op with all that is done before it, a fill at the start, or one of the two ends of a
/// body, which are on the stream of its op.
using NodeId = std::uint32_t;

/// Numbers the nodes of a graph and its plan.
struct Nodes {
  Nodes(const Graph& graph, const Plan& plan)
      : ops(graph.ops().size()), clears(plan.clears.size()), scopes(graph.scopes().size()) {}

  [[nodiscard]] NodeId of(OpId op) const { return static_cast<NodeId>(op.index()); }
  [[nodiscard]] NodeId fill(std::size_t clear) const { return static_cast<NodeId>(ops + clear); }
  [[nodiscard]] NodeId begin(ScopeId body) const { return static_cast<NodeId>(ops + clears + body.index()); }
  [[nodiscard]] NodeId end(ScopeId body) const { return static_cast<NodeId>(ops + clears + scopes + body.index()); }
  [[nodiscard]] std::size_t count() const { return ops + clears + 2 * scopes; }

  std::size_t ops;
  std::size_t clears;
  std::size_t scopes;
};

/// `to` waits for everything that the stream of `from` has up to `from`.
struct NodeWait {
  NodeId to;
  NodeId from;
};

/// Finds the waits of the run of one batch: the transitive reduction of its happens-before relation, scope by scope.
///
/// Forward vector clocks. The nodes of a scope are walked in order. The row of a node says, for each stream, up to
/// which node that stream is known to be over when this one starts; it begins as the row of the node before on the same
/// stream. Then come the nodes that must precede it, the latest first: what the row knows already is implied, by the
/// stream or by a wait for something later; of anything else it needs a wait, and takes over its row. Going backwards
/// is what makes the waits fewest: if one predecessor implies another, it is the later of the two.
class WaitFinder {
 public:
  WaitFinder(const Graph& graph, const Plan& plan, const Duties& duties, const StartFills& fills);

  /// By `to`, in the order of the walk. O(accesses + (ops + waits) × streams).
  [[nodiscard]] std::vector<NodeWait> run(std::uint32_t batch);

 private:
  static constexpr NodeId kNone = 0xffffffff;

  void number_streams();
  void walk(ScopeId scope);
  void begin(ScopeId scope);
  void add_op(OpId op, ScopeId scope);
  void end(ScopeId scope);
  /// Whether something waits for the end of a body: its stream goes on, or it is repeated, or copies are made there.
  [[nodiscard]] bool is_end_needed(ScopeId body) const;
  /// Adds the next node of its stream, after `before_`.
  void add(NodeId node, StreamId stream);
  void merge(std::uint32_t* known, NodeId earlier);
  [[nodiscard]] std::uint32_t* row(NodeId node) { return &rows_[node * streams_]; }
  [[nodiscard]] StreamId stream_of_body(ScopeId scope) const { return graph_.op(graph_.scope(scope).op).stream; }

  const Graph& graph_;
  const Duties& duties_;
  const StartFills& fills_;
  Nodes nodes_;
  std::vector<Edge> edges_;  ///< Ascending by `to`; between ops of the root.

  std::uint32_t batch_ = 0;
  std::size_t streams_ = 0;
  std::vector<std::uint32_t> number_;  ///< By stream id: among the streams that are used.
  std::vector<std::uint8_t> tasks_;    ///< By op: whether it is a node in this batch.
  std::optional<DataSources> sources_;
  std::vector<StartFills::Meeting> meetings_;  ///< Ascending by op.
  std::size_t next_meeting_ = 0;
  std::vector<std::uint32_t> rows_;       ///< Row-major, node × stream: a position, or 0.
  std::vector<std::uint32_t> position_;   ///< By node: in its scope, from 1.
  std::vector<std::uint32_t> stream_of_;  ///< By node: its number.
  std::vector<bool> awaited_;             ///< By node.
  std::vector<bool> end_needed_;          ///< By scope.
  std::uint32_t next_position_ = 0;
  std::vector<NodeId> last_;    ///< By stream number: its last node so far, in the current scope.
  std::vector<NodeId> before_;  ///< What must precede the next node.
  std::vector<NodeWait> waits_;
};

}  // namespace stowage
