#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage::verification {

/// Tensors that an op wants next to each other. Counts only with more than one member.
struct Group {
  struct Member {
    TensorId tensor;
    Bytes offset;  ///< From the start of the group.
  };
  OpId op;
  bool of_inputs = false;
  Contiguity kind = Contiguity::none;
  Bytes alignment{1};                  ///< Of the start, where it is padded.
  std::optional<TensorId> whole = {};  ///< Where it is packed.
  std::vector<Member> members = {};
};

/// The groups of one op: of its inputs, then of its outputs. Outputs that all lie in other tensors by themselves
/// (views, aliases, addresses of their own) are no group: where they are is settled.
[[nodiscard]] std::vector<Group> groups_of(const Graph& graph, OpId op);

}  // namespace stowage::verification
