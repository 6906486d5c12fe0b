#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage {

/// A member of a contiguous group that is copied to where the op needs it, although it might lie there itself. The op
/// does not read the member then, so that its memory may be free when the op runs, and even when later copies are made.
struct CopiedMember {
  OpId op;
  TensorId tensor;
  std::string reason;  ///< As the plan gives it.
};

/// Ascending by op; those of one op in the order in which they are copied. Without duplicates.
using CopiedMembers = std::vector<CopiedMember>;

/// Those of one op.
[[nodiscard]] inline std::span<const CopiedMember> members_of(const CopiedMembers& copied, OpId op) {
  const auto first = std::lower_bound(copied.begin(), copied.end(), op,
                                      [](const CopiedMember& each, OpId of) { return each.op < of; });
  const auto last = std::find_if(first, copied.end(), [&](const CopiedMember& each) { return each.op != op; });
  return {first, last};
}

/// Null if the op reads or writes the tensor itself.
[[nodiscard]] inline const CopiedMember* find_copied(const CopiedMembers& copied, OpId op, TensorId tensor) {
  for (const CopiedMember& each : members_of(copied, op)) {
    if (each.tensor == tensor) return &each;
  }
  return nullptr;
}

}  // namespace stowage
