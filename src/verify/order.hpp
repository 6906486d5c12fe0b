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

/// The parts of an op's step, in order.
enum class Phase : std::uint8_t {
  before,  ///< The clears and copies that the plan puts before the op. They run one after another.
  run,     ///< The op; of an op with bodies, its entry.
  inside,  ///< The bodies. Everything in a body that has ended, or in an earlier iteration, counts as this phase.
  exit,    ///< The end of an op with bodies: its results exist.
};

/// The moment of an access to memory.
struct Moment {
  std::uint32_t op;
  Phase phase;

  friend bool operator==(const Moment&, const Moment&) = default;
};

/// Whether an op runs when `batch` is chosen.
[[nodiscard]] inline bool is_active(const Op& op, std::string_view batch) {
  return op.batch.empty() || op.batch == batch;
}

/// Which part of a graph and a plan runs, and what the plan adds to its order.
struct Schedule {
  const Graph& graph;
  std::span<const Edge> edges;          ///< Between root ops that exist; they lead forward.
  std::span<const std::uint8_t> tasks;  ///< By op: whether it, or a copy before it, accesses memory.
  std::string_view batch = {};          ///< The chosen batch.
};

/// The happens-before relation of moments, by forward vector clocks.
///
/// Ops of one stream happen in order; so do ops linked by `after` or by an edge of the plan. An op happens after the
/// latest earlier producer of each tensor that it reads, of the tensor that this one is a view of, and of the tensors
/// that a producer without a task aliases it to or packs it from. Ops without a task order nothing, nor do those of
/// another batch. Ops inside and outside a body are ordered only through the op that has the body.
///
/// For each stream, the clock of an op holds the last op of that stream, in the op's own scope, that is known to be
/// over when the op starts. There is one row per op, merged from the rows of its direct predecessors in execution
/// order: O(ops × streams) memory, none for a single stream. Streams are numbered by their first task op, so unused ids
/// cost nothing.
class Order {
 public:
  explicit Order(const Schedule& schedule);

  [[nodiscard]] std::size_t streams() const { return streams_; }
  [[nodiscard]] std::size_t stream(std::uint32_t op) const { return streams_ == 1 ? 0 : stream_of_[op]; }
  [[nodiscard]] std::uint32_t scope(std::uint32_t op) const { return scope_of_.empty() ? 0 : scope_of_[op]; }
  /// Whether `a` is over when `b` begins, in every run. Precondition: `a` came first in the walk.
  [[nodiscard]] bool happens_before(Moment a, Moment b) const;
  /// Whether `op` lies in `scope`, at any depth.
  [[nodiscard]] bool is_within(std::uint32_t op, std::uint32_t scope) const;

 private:
  void find_scopes(const Graph& graph);
  void number_streams(const Schedule& schedule);
  void run_clocks(const Schedule& schedule);
  /// Records that op `later` happens after `earlier`, and therefore after everything that happens before `earlier`.
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
