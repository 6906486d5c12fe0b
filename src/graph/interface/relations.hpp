#pragma once

#include <vector>

#include "graph/interface/groups.hpp"
#include "graph/interface/offset_union.hpp"
#include "graph/interface/rings.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Where a tensor lies by the graph's own word: `offset` bytes behind the start of `representative`. May be negative.
struct AliasPlace {
  TensorId representative;  ///< The same for all tensors of an alias class; itself at offset 0.
  Bytes offset;

  friend bool operator==(const AliasPlace&, const AliasPlace&) = default;
};

/// What a graph says about tensors together. `Graph::build` finds it, since validation needs it, and keeps it:
/// `Graph::relations`. Plain and constant; 16 bytes per tensor, and the members of groups and rings.
struct Relations {
  /// By tensor: what is held together by views, by the ops' aliases, by what bodies are given from outside (except for
  /// what a loop carries), and by a loop's results with the values that come in.
  std::vector<AliasPlace> alias_places;
  std::vector<Group> groups;           ///< In the order of ops, inputs before outputs.
  std::vector<RingRange> ring_ranges;  ///< In execution order, which is the order of eviction.

  [[nodiscard]] const AliasPlace& place(TensorId tensor) const { return alias_places[tensor.index()]; }
  /// `alias_places` as a union, by tensor, for those who know of more that lies at fixed distances.
  [[nodiscard]] OffsetUnion to_union() const;
};

}  // namespace stowage
