#pragma once

#include <cstddef>
#include <vector>

#include "layout/stages.hpp"

namespace stowage::layout {

/// Output class `output` takes the place of input class `input`, `offset` bytes into it.
struct Takeover {
  ClassId output;
  ClassId input;
  Bytes offset;
  Bytes slack;       ///< By how much the input class is larger.
  std::size_t pair;  ///< Index in the op's list of pairs.
};

/// The in-place pairs that `op` uses: at most one per output class and one per input class. `placed` says which classes
/// are already in storages. Precondition: the classes that the op reads are.
[[nodiscard]] std::vector<Takeover> choose_takeovers(const StorageInput& input, const Storages& so_far,
                                                     const ByClass<char>& placed, OpId op);

}  // namespace stowage::layout
