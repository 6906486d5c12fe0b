#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::verification {

/// The parts of an op's step, one after the other.
enum class Phase : std::uint8_t {
  before,  ///< Clears and copies that the plan puts before it. They follow each other.
  run,     ///< The op; of an op with bodies, its entry.
  inside,  ///< Its bodies. What happened in a body that has ended, or in an iteration before this one, counts as this.
  exit,    ///< Of an op with bodies: its results are there.
};

/// When something touches memory.
struct Moment {
  std::uint32_t op;
  Phase phase;

  friend bool operator==(const Moment&, const Moment&) = default;
};

/// Whether an op runs when `batch` is chosen.
[[nodiscard]] inline bool is_active(const Op& op, std::string_view batch) {
  return op.batch.empty() || op.batch == batch;
}

/// What of a graph and a plan runs, and what the plan adds to its order.
struct Schedule {
  const Graph& graph;
  std::span<const Edge> edges;          ///< Of the root, forward, between ops that exist.
  std::span<const std::uint8_t> tasks;  ///< By op: it touches memory, or copies before it do.
  std::string_view batch = {};          ///< The chosen one.
};

/// Which moments happen before which: forward vector clocks.
///
/// Ops of one stream happen in order; so do ops linked by `after` or by an edge of the plan, and an op happens after
/// the latest earlier producer of what it reads, of what that is a view of, and of what a producer without a task
/// aliases it to or packs it from. Ops without a task order nothing, nor do those of another batch. Order goes into and
/// out of a body through its op only.
///
/// The clock of an op says for each stream how far that stream, in the op's own scope, is known to be when the op
/// starts. One row an op, merged from the rows of its direct predecessors, in execution order: O(ops × streams) memory,
/// nothing at all for a single stream. Streams are numbered by their first task op, so that unused ids cost nothing.
class Order {
 public:
  explicit Order(const Schedule& schedule);

  [[nodiscard]] std::size_t streams() const { return streams_; }
  [[nodiscard]] std::size_t stream(std::uint32_t op) const { return streams_ == 1 ? 0 : stream_of_[op]; }
  [[nodiscard]] std::uint32_t scope(std::uint32_t op) const { return scope_of_.empty() ? 0 : scope_of_[op]; }
  /// Whether `a`, which came first in the walk, is over when `b` begins, in every run.
  [[nodiscard]] bool happens_before(Moment a, Moment b) const;
  /// Whether `op` lies in `scope`, at any depth.
  [[nodiscard]] bool is_within(std::uint32_t op, std::uint32_t scope) const;

 private:
  void find_scopes(const Graph& graph);
  void number_streams(const Schedule& schedule);
  void run_clocks(const Schedule& schedule);
  /// Op `later` happens after `earlier`, and so after all that happened before that.
  void follow(std::size_t later, std::size_t earlier);
  [[nodiscard]] Moment outside(Moment moment) const { return {owner_[scope_of_[moment.op]], Phase::inside}; }
  [[nodiscard]] bool in_one_scope(Moment a, Moment b) const;

  std::size_t streams_ = 0;
  std::vector<std::uint32_t> stream_of_;  ///< By op.
  std::vector<std::int64_t> clocks_;      ///< Row-major, op × stream: the last op known to be over, or -1.
  std::vector<std::uint32_t> scope_of_;   ///< By op; empty without bodies.
  std::vector<std::uint32_t> owner_;      ///< By scope: the op whose body it is.
  std::vector<std::uint32_t> depth_;      ///< By scope.
};

}  // namespace stowage::verification
