#pragma once

#include <cstddef>
#include <vector>

#include "layout/stages.hpp"

namespace stowage::layout {

/// Output class `output` in the place of input class `input`, `offset` bytes into it.
struct Takeover {
  ClassId output;
  ClassId input;
  Bytes offset;
  Bytes slack;       ///< How much larger the input class is.
  std::size_t pair;  ///< Position in the op's list.
};

/// The in-place pairs that `op` uses: at most one for an output class and one for an input class. `placed` says which
/// classes are in storages. Precondition: the classes that the op reads are.
[[nodiscard]] std::vector<Takeover> choose_takeovers(const StorageInput& input, const Storages& so_far,
                                                     const ByClass<char>& placed, OpId op);

}  // namespace stowage::layout
