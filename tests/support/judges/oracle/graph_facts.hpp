#pragma once

#include <cstddef>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage::oracle {

/// What a graph determines without a plan. Owners of memory have numbers: a class of tensors at fixed distances (the
/// number of one of them), or a workspace (numbers after all tensors).
struct GraphFacts {
  explicit GraphFacts(const Graph& of);

  [[nodiscard]] std::size_t owner(TensorId tensor) const { return owners[tensor.index()]; }
  [[nodiscard]] std::size_t owner(OpId op, std::size_t workspace) const {
    return first_workspace[op.index()] + workspace;
  }
  [[nodiscard]] bool is_tensor(std::size_t owner) const { return owner < graph.tensors().size(); }
  /// A constant or a variable.
  [[nodiscard]] bool is_persistent(std::size_t owner) const {
    return flags[owner].any_of({TensorFlag::constant, TensorFlag::variable});
  }

  const Graph& graph;
  std::vector<std::size_t> first_workspace;  ///< By op: the number of its first workspace.
  std::vector<std::size_t> owners;           ///< By tensor and workspace.
  std::vector<TensorFlags> flags;            ///< By owner, as all that follow: of all its tensors together.
  std::vector<std::size_t> home;             ///< The outermost scope that it is in.
  std::vector<bool> filled;                  ///< An op requires a fill.
  std::vector<bool> session;                 ///< A workspace of the session.
  std::vector<bool> touched;                 ///< A task op accesses it; for a workspace: its op is a task op.

 private:
  void find_owners();
  void find_flags_and_homes();
  void look_at_op(OpId id);
};

/// Whether it is a body's input that every iteration of a loop gets again.
[[nodiscard]] bool is_carried(const Scope& scope, TensorId inner);

/// Gives all that has the number of `a` the number of `b`.
void unite(std::vector<std::size_t>& numbers, std::size_t a, std::size_t b);

}  // namespace stowage::oracle
