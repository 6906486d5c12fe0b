#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::rewrite {

/// How an op or a tensor of a rewritten graph relates to the original graph.
enum class OriginKind : std::uint8_t {
  same,   ///< It is the original one, perhaps with changed fields.
  copy,   ///< It repeats the original one or a part of it: a copy or a recomputation.
  added,  ///< It corresponds to nothing in the original graph.
};

template <class Id>
struct Origin {
  OriginKind kind = OriginKind::added;
  Id id = {};  ///< In the original graph; meaningless for `added`.

  friend bool operator==(const Origin& a, const Origin& b) {
    return a.kind == b.kind && (a.kind == OriginKind::added || a.id == b.id);
  }
};

/// Indexed by op and tensor of the new graph. For each op or tensor of the original graph at most one has the kind
/// `same`; if there is none, it was removed.
struct Origins {
  std::vector<Origin<OpId>> ops;
  std::vector<Origin<TensorId>> tensors;

  friend bool operator==(const Origins&, const Origins&) = default;
};

/// What every rewrite returns. The original graph is not changed and need not outlive it.
struct Rewritten {
  Graph graph;
  Origins origins;
};

}  // namespace stowage::rewrite
