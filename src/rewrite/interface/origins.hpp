#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::rewrite {

/// What an op or a tensor of a rewritten graph is to the graph before.
enum class OriginKind : std::uint8_t {
  same,   ///< It is that one, whatever was changed about it.
  copy,   ///< It computes, or holds, the same as that one or a part of it, once more: a copy, a recomputation.
  added,  ///< Nothing of the graph before.
};

template <class Id>
struct Origin {
  OriginKind kind = OriginKind::added;
  Id id = {};  ///< Of the graph before; meaningless for `added`.

  friend bool operator==(const Origin& a, const Origin& b) {
    return a.kind == b.kind && (a.kind == OriginKind::added || a.id == b.id);
  }
};

/// By op and tensor of the new graph. At most one is the same as one of the graph before; what nobody is was removed.
struct Origins {
  std::vector<Origin<OpId>> ops;
  std::vector<Origin<TensorId>> tensors;

  friend bool operator==(const Origins&, const Origins&) = default;
};

/// What every rewrite returns. The graph before is not changed and need not outlive it.
struct Rewritten {
  Graph graph;
  Origins origins;
};

}  // namespace stowage::rewrite
