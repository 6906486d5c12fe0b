#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "graph/interface/data_sources.hpp"
#include "lower/duties.hpp"
#include "lower/knowledge.hpp"
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

/// Finds the waits of the run of one batch: no more than its happens-before relation takes.
///
/// Forward vector clocks over the whole program. `Known` says what a stream knows to be over: it begins as what the
/// stream knew at its node before. Then come the nodes that must precede the next one, the latest first: what is known
/// already is implied, by the stream or by a wait for something later; anything else needs a wait, and what was known
/// there is known here from then on. Going backwards is what makes the waits fewest: if one predecessor implies
/// another, it is the later of the two.
///
/// **Bodies.** A body begins with what each stream knows in front of its op. Behind the op a stream knows what it knows
/// at the end of every body that may have run (of a loop, also in front of it). An op with bodies is over when,
/// whatever body ran, each stream is over with its *part* of that body. `Known` has parts one by one: a stream knows
/// its own part at least, and what a body that did not run would have done is over. The stream of the op knows all
/// parts at the end of each iteration of a loop, and before copies at the end of a body. Behind a branch it waits, at
/// the ends of the bodies, only for parts that somebody needs to know from it and nothing else tells (`provide`). As
/// that turns out late, streams may have been taken to know less than they do. So with bodies each wait that is not
/// needed right where it is made is finally left out for a try (`reduce`): O(ops × streams) each.
class WaitFinder {
 public:
  WaitFinder(const Graph& graph, const Plan& plan, const Duties& duties, const StartFills& fills);

  /// Ascending by `to` with bodies, else in the order of the walk. O(accesses + (ops + waits) × streams) without
  /// bodies.
  [[nodiscard]] std::vector<NodeWait> run(std::uint32_t batch);

 private:
  static constexpr NodeId kNone = 0xffffffff;
  static constexpr std::uint32_t kAll = 0xffffffff;

  /// Something that must be over: a node, or, with a stream number, only the part of it that is on that stream.
  struct Need {
    NodeId node;
    std::uint32_t stream = kAll;
  };
  /// A scope while it is walked, or what is left of it afterwards: what happened directly in it.
  struct Frame {
    ScopeId scope;
    std::vector<NodeId> previous;     ///< By stream number: its last node.
    std::vector<NodeId> last;         ///< The same, without ops that do nothing besides their bodies.
    std::vector<NodeId> with_bodies;  ///< Ops with bodies.
  };
  /// A body that was walked. What is known there is known by the stream of its op.
  struct BodyEnd {
    Frame frame;
    std::vector<std::uint32_t> last;  ///< By stream number: the position of the last node in it, or 0.
    Known known;                      ///< Without the waits at the end.
    std::vector<bool> needed;         ///< By stream number: whether its part must be known with them.
    Known waited;                     ///< With them.
    std::vector<NodeId> waits;
  };
  /// An op with bodies.
  struct Exit {
    bool works = false;          ///< It may do something besides its bodies.
    std::uint32_t position = 0;  ///< Behind its bodies.
    std::vector<BodyEnd> ends;
  };
  using State = std::vector<Known>;  ///< By stream number.

  /// Waits that are given, for a walk that finds out whether they are enough.
  struct Trial {
    std::vector<NodeWait> waits;              ///< Ascending by `to`.
    std::vector<bool> left_out;               ///< By wait.
    std::vector<std::size_t>* doubtful = {};  ///< If not null, gets those that their node could do without.
    bool enough = true;
  };

  void number_streams();
  void start();
  void reduce();
  [[nodiscard]] bool try_out(Trial& trial);
  /// Makes a stream know what the waits of a node tell it, and notes whether it `may_go_on` then.
  template <class MayGoOn>
  void take_waits(NodeId node, Known& known, MayGoOn&& may_go_on);
  void walk(ScopeId scope);
  void walk_bodies(OpId op);
  [[nodiscard]] State walk_body(ScopeId body, OpId op, const State& before);
  void close(OpId op, const State& before, const std::vector<State>& after);
  void add_start_fills();
  void add_op(OpId op);
  void list_needs(OpId op);
  /// Adds the next node of its stream, after `before_`.
  void add(NodeId node, StreamId stream, bool works = true);
  void place(NodeId node, std::uint32_t stream);

  /// Makes `known`, of a stream, know what is needed. Adds what the stream waits for to `waits`.
  void learn(Known& known, Need need, std::vector<NodeId>& waits);
  /// Makes the stream of an op with bodies know what `known` does not, of all parts of the op or one.
  void provide(Need need, const Known& known);
  void wait_at_end(BodyEnd& end);
  [[nodiscard]] std::vector<Need> needs_at_end(const BodyEnd& end) const;
  [[nodiscard]] bool knows(const Known& known, Need need) const;
  [[nodiscard]] bool knows_part(const Known& known, NodeId op, std::uint32_t stream) const;
  [[nodiscard]] bool knows_part(const Known& known, const BodyEnd& end, std::uint32_t stream) const;
  /// Whether everything is known that precedes the bodies of an op.
  [[nodiscard]] bool is_entered(const Known& known, NodeId op) const;
  /// Whether everything is known that `stream` did in a body, behind which the walk is.
  [[nodiscard]] bool knows_body(const Known& known, const Frame& frame, std::uint32_t stream) const;

  [[nodiscard]] bool has_bodies(NodeId node) const { return exits_.contains(node); }
  [[nodiscard]] std::uint32_t place_of(NodeId node) const {
    return has_bodies(node) ? exits_.at(node).position : position_[node];
  }
  [[nodiscard]] Known::Part part(ScopeId body, std::uint32_t stream) const {
    return Known::Part{body.index()} * streams_ + stream;
  }
  [[nodiscard]] bool has_copies_at_end(ScopeId body) const;
  [[nodiscard]] bool has_copies_before(OpId op) const;

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
  State now_;                             ///< What each stream knows.
  std::vector<Known> at_;                 ///< By node: what its stream knows there; of an op with bodies, behind it.
  std::vector<std::uint32_t> position_;   ///< By node: in the order of the walk, from 1.
  std::vector<std::uint32_t> stream_of_;  ///< By node: its number.
  std::uint32_t next_position_ = 0;
  std::vector<std::uint32_t> last_position_;               ///< By stream number: of its last node.
  std::unordered_map<NodeId, Exit> exits_;                 ///< By op with bodies.
  Frame frame_;                                            ///< Of the scope that is walked.
  std::vector<NodeId> before_;                             ///< What must precede the next node.
  std::unordered_map<NodeId, std::vector<NodeId>> needs_;  ///< By op; only with bodies.
  Trial* trial_ = nullptr;                                 ///< That the walk is for, if it is for one.
  std::vector<NodeWait> waits_;
};

}  // namespace stowage
