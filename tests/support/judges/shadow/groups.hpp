#pragma once

#include <cstddef>
#include <vector>

#include "stowage/graph.hpp"

/// The groups of an op, read from the graph alone.
namespace stowage::testing {

/// A member of a contiguous group.
struct GroupMember {
  std::size_t position = 0;  ///< In the op's list.
  TensorId tensor;
  Bytes offset;  ///< From the start of the group.
};

/// The members of the op's contiguous inputs, or outputs. Empty where there is no group: less than two members, an op
/// without a task, outputs that are external.
[[nodiscard]] std::vector<GroupMember> input_members(const Graph& graph, const Op& op);
[[nodiscard]] std::vector<GroupMember> output_members(const Graph& graph, const Op& op);

/// A concat, or split, that moves nothing.
[[nodiscard]] bool is_concat(const Graph& graph, const Op& op);
[[nodiscard]] bool is_split(const Graph& graph, const Op& op);

/// Whether anything reads the bytes of constants themselves: copies for groups and bodies do. Where nothing does,
/// constants take no memory in a shadow run.
[[nodiscard]] bool constants_have_bytes(const Graph& graph);

}  // namespace stowage::testing
