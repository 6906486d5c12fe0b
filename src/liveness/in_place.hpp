#pragma once

#include <cstddef>
#include <vector>

#include "stowage/liveness.hpp"

namespace stowage::liveness {

/// Output class `output` in the place of input class `input`, `offset` bytes into it.
struct Takeover {
  ClassId output;
  ClassId input;
  Bytes offset;
  Bytes slack;       ///< How much larger the input class is.
  std::size_t pair;  ///< Position in the op's list.
};

/// The in-place pairs that `op` uses: at most one for an output class and one for an input class. `placed` has an entry a class.
/// Precondition: the classes that the op reads are in storages.
[[nodiscard]] std::vector<Takeover> choose_takeovers(const Graph& graph, const LivenessOptions& options, const Liveness& result,
                                                     const std::vector<bool>& placed, OpId op);

}  // namespace stowage::liveness
