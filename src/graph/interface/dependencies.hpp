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

/// Why one op comes before another. Two families, and the difference matters:
///
///   - **Waited for** (`is_waited_for`): who runs the graph waits for these, in whatever order the list of ops is. They
///   are what
///     "happens before" is made of (liveness), and a plan may rely on nothing else.
///   - **Kept**: nobody waits for these. They hold because the list of ops has them in this order and streams or the
///   first family
///     happen to enforce it; where nothing does, the graph has a race. Who reorders ops or changes their streams has to
///     keep them.
///
/// Any order of a scope's ops that keeps all but `stream` computes the same values and passes `Graph::build` (except
/// that prefetch rings give out their ranges in the order of ops). What a plan adds, `Plan::edges`, is not here.
enum class DependencyKind : std::uint8_t {
  // Waited for:
  stream,  ///< The task op before it on its stream.
  after,   ///< It names the op in `after`.
  data,    ///< It reads what the op wrote last: a tensor, one that this is a view of, or through ops without a task an
           ///< alias.
  // Kept:
  read_after_write,   ///< It reads bytes that the op wrote by another name, and that nobody wrote since.
  write_after_read,   ///< It overwrites bytes that the op reads, and that nobody wrote in between.
  write_after_write,  ///< It overwrites bytes that the op wrote, and that nobody wrote in between.
  definition,         ///< Not about memory: it names what the op gives a value or a name. One of both may have no task.
};

[[nodiscard]] constexpr bool is_waited_for(DependencyKind kind) { return kind <= DependencyKind::data; }
[[nodiscard]] std::string_view to_string(DependencyKind kind);

/// Op `to` depends on op `from`, which comes earlier in the same scope.
struct Dependency {
  OpId to;
  OpId from;
  DependencyKind kind = DependencyKind::data;
  std::uint32_t batch = 0;  ///< 1 + the batch in whose runs it holds; 0: whenever both run.

  friend auto operator<=>(const Dependency&, const Dependency&) = default;
};

enum class WantedDependencies : std::uint8_t {
  waited_for,  ///< Only those that somebody waits for.
  all,
};

/// All direct dependencies between the ops of a graph, by the op that depends. Transitive ones are left out where the
/// chain is listed: a write that covers what was written before stands for it.
///
/// Ops with task only, except for `definition`: behind an op without a task stands whoever wrote what it passes on.
///
/// Bodies: a dependency is between ops of one scope. An op with bodies reads its inputs, writes its outputs, and
/// touches whatever its bodies touch of the memory around it; they begin after it starts, and are over before it ends.
/// Bodies of one op, and iterations of a loop, follow each other. Batches: ops that never run together do not depend on
/// each other; where one of several writers of a variable is in a batch, it depends on the run whose value is read,
/// which `batch` says.
///
/// A plain value: any number of threads may read one.
class Dependencies {
 public:
  Dependencies() = default;

  /// Of one op, ascending.
  [[nodiscard]] std::span<const Dependency> of(OpId to) const {
    return std::span(list_).subspan(begin_[to.index()], begin_[to.index() + 1] - begin_[to.index()]);
  }
  [[nodiscard]] std::span<const Dependency> all() const { return list_; }
  /// Those that hold in the runs of a batch (as in `Dependency::batch`), between ops that run there.
  [[nodiscard]] Dependencies in_run(const Graph& graph, std::uint32_t batch) const;

 private:
  friend Dependencies find_dependencies(const Graph& graph, WantedDependencies wanted);
  /// `list` is ascending.
  Dependencies(std::vector<Dependency> list, std::size_t ops);

  std::vector<Dependency> list_;
  std::vector<std::size_t> begin_;  ///< By op, plus one.
};

/// O(accesses log accesses + what is found) for each batch; an access of an op in bodies counts once for each op around
/// it.
[[nodiscard]] Dependencies find_dependencies(const Graph& graph, WantedDependencies wanted = WantedDependencies::all);

}  // namespace stowage
