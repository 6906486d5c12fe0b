#pragma once

#include <vector>

#include "layout/stages.hpp"

namespace stowage::layout {

/// All places that a storage may take over from another one because ops may write outputs over inputs. None of these
/// is used yet: solvers choose. Precondition: every resident class is in a storage. O(pairs × (streams + classes of
/// the two storages)).
[[nodiscard]] std::vector<StorageJoin> find_joins(const StorageInput& input, const Storages& storages);

}  // namespace stowage::layout
