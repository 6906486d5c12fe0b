#pragma once

#include <vector>

#include "graph/interface/groups.hpp"
#include "graph/interface/offset_union.hpp"
#include "graph/interface/rings.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Where the graph itself requires a tensor to lie: `offset` bytes after the start of
/// `representative`. May be negative.
struct AliasPlace {
  TensorId representative;  ///< The same for all tensors of an alias class; its own offset is 0.
  Bytes offset;

  friend bool operator==(const AliasPlace&, const AliasPlace&) = default;
};

/// What a graph requires of tensors relative to each other. `Graph::build` finds it, because validation needs it, and
/// keeps it (`Graph::relations`). Immutable; 16 bytes per tensor, plus the members of groups and rings.
struct Relations {
  /// By tensor. Tensors are tied together by views, by the ops' aliases, by the pairs through which bodies get their
  /// inputs (except for what a loop carries), and by a loop's results with the incoming values.
  std::vector<AliasPlace> alias_places;
  std::vector<Group> groups;           ///< In the order of ops, inputs before outputs.
  std::vector<RingRange> ring_ranges;  ///< In execution order, which is the order of eviction.

  [[nodiscard]] const AliasPlace& place(TensorId tensor) const { return alias_places[tensor.index()]; }
  /// `alias_places` as a union over tensors, to which a caller can join more tensors at fixed distances.
  [[nodiscard]] OffsetUnion to_union() const;
};

}  // namespace stowage
