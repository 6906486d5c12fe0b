#pragma once

#include <compare>
#include <cstdint>

#include "stowage/base.hpp"

/// Names for parts of a graph that have no list of their own.
namespace stowage {

/// Workspace `index` of an op.
struct WorkspaceId {
  OpId op;
  std::uint32_t index = 0;

  friend auto operator<=>(const WorkspaceId&, const WorkspaceId&) = default;
};

/// Op `from` must have finished before op `to` starts.
struct Edge {
  OpId from;
  OpId to;

  friend auto operator<=>(const Edge&, const Edge&) = default;
};

}  // namespace stowage
