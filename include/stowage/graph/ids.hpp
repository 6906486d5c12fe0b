#pragma once

#include <compare>
#include <cstdint>

#include "stowage/base.hpp"

/// Identifies parts of a graph that are not kept in a list.
namespace stowage {

/// Workspace `index` of an op.
struct WorkspaceId {
  OpId op;
  std::uint32_t index = 0;

  friend auto operator<=>(const WorkspaceId&, const WorkspaceId&) = default;
};

/// Op `from` must finish before op `to` starts.
struct Edge {
  OpId from;
  OpId to;

  friend auto operator<=>(const Edge&, const Edge&) = default;
};

}  // namespace stowage
