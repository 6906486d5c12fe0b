#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Why an op must come after an earlier one. There are two families:
///
/// - **Waited for** (`is_waited_for`): an executor waits for these, whatever the order of the list of ops. The
///   happens-before relation (liveness) consists of them, and a plan may rely on nothing else.
/// - **Kept**: nobody waits for these. They hold because the ops are listed in this order and because streams or the
///   first family happen to enforce it; if nothing enforces one, the graph has a race. Code that reorders ops or
///   changes their streams must preserve them.
///
/// Any order of a scope's ops that preserves all kinds except for `stream` computes the same values and passes
/// `Graph::build` (except that prefetch rings assign their ranges in the order of the ops). The edges that a plan adds
/// (`Plan::edges`) are not included.
enum class DependencyKind : std::uint8_t {
  // Waited for:

  stream,  ///< The op is the previous task op on the same stream.
  after,   ///< The dependent op names the op in `after`.
  /// The op was the last writer of a tensor that the dependent op reads, of a tensor that this is a view of, or of an
  /// alias of it through ops without a task.
  data,

  // Kept:

  /// The dependent op reads bytes that the op wrote through another tensor and that nobody has written since.
  read_after_write,
  /// The dependent op overwrites bytes that the op reads and that nobody writes in between.
  write_after_read,
  /// The dependent op overwrites bytes that the op wrote and that nobody writes in between.
  write_after_write,
  /// Not about memory: the dependent op names the op in `after`, or a tensor that the op defines.
  /// Either op may have no task.
  definition,
};

[[nodiscard]] constexpr bool is_waited_for(DependencyKind kind) { return kind <= DependencyKind::data; }
[[nodiscard]] std::string_view to_string(DependencyKind kind);

/// By op, including ops in bodies: 1 + the batch (`Graph::batches`) that it runs in; 0: it runs in all.
[[nodiscard]] std::vector<std::uint32_t> batches_of_ops(const Graph& graph);

/// Op `to` depends on op `from`, an earlier op of the same scope.
struct Dependency {
  OpId to;
  OpId from;
  DependencyKind kind = DependencyKind::data;
  std::uint32_t batch = 0;  ///< 1 + the batch in whose runs it holds; 0: holds whenever both ops run.

  friend auto operator<=>(const Dependency&, const Dependency&) = default;
};

enum class WantedDependencies : std::uint8_t {
  waited_for,  ///< Only the first family: `stream`, `after` and `data`.
  all,
};

/// All direct dependencies between the ops of a graph, sorted by the dependent op. A dependency that follows from a
/// chain of listed ones may be missing: after a write that covers earlier writes, later ops depend on that write only.
///
/// Except for `definition`, dependencies are between task ops. An op without a task is replaced by the ops that wrote
/// the values that it passes on.
///
/// Bodies: a dependency is between ops of one scope. An op with bodies reads its inputs, writes its outputs, and
/// accesses everything outside its bodies that they access; they start after it starts and finish before it ends.
/// Bodies of one op, and iterations of a loop, run one after another.
///
/// Batches: ops that never run together do not depend on each other. If one of several writers of a variable has a
/// batch label, the batch decides whose value is read; `Dependency::batch` says in which batch a dependency holds.
///
/// A plain value; any number of threads may read it.
class Dependencies {
 public:
  Dependencies() = default;

  /// The dependencies of one op, ascending.
  [[nodiscard]] std::span<const Dependency> of(OpId to) const {
    return std::span(list_).subspan(begin_[to.index()], begin_[to.index() + 1] - begin_[to.index()]);
  }
  [[nodiscard]] std::span<const Dependency> all() const { return list_; }
  /// The dependencies that hold in the runs of a batch (numbered as in `Dependency::batch`),
  /// between ops that run in it.
  [[nodiscard]] Dependencies in_run(const Graph& graph, std::uint32_t batch) const;

 private:
  friend Dependencies find_dependencies(const Graph& graph, WantedDependencies wanted);
  /// `list` is ascending.
  Dependencies(std::vector<Dependency> list, std::size_t ops);

  std::vector<Dependency> list_;
  std::vector<std::size_t> begin_;  ///< By op: where its part of `list_` begins; one more entry for the end.
};

/// O(accesses log accesses + dependencies found) per batch. An access inside bodies counts once
/// more for each enclosing op.
[[nodiscard]] Dependencies find_dependencies(const Graph& graph, WantedDependencies wanted = WantedDependencies::all);

}  // namespace stowage
