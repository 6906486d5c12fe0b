#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage::verification {

/// Tensors that an op requires to be contiguous. A group has at least two members.
struct Group {
  struct Member {
    TensorId tensor;
    Bytes offset;  ///< From the start of the group.
  };
  OpId op;
  bool of_inputs = false;
  Contiguity kind = Contiguity::none;
  Bytes alignment{1};                  ///< Of the start of a padded group.
  std::optional<TensorId> whole = {};  ///< Of a packed group.
  bool given = false;                  ///< Other rules place all members: views, aliases, their own addresses.
  std::vector<Member> members = {};
};

/// The groups of one op: of its inputs, then of its outputs.
[[nodiscard]] std::vector<Group> groups_of(const Graph& graph, OpId op);

}  // namespace stowage::verification
