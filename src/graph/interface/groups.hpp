#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage {

/// A tensor of a contiguous group and its required offset.
struct GroupMember {
  TensorId tensor;
  std::uint32_t position;  ///< Index in the op's inputs or outputs.
  Bytes offset;            ///< From the start of the group.
};

enum class GroupSide : std::uint8_t { inputs, outputs };

/// Tensors that an op requires to be contiguous. A group has at least two members.
struct Group {
  OpId op;
  GroupSide side;
  Contiguity kind;
  std::vector<GroupMember> members;
  std::optional<TensorId> whole;  ///< Of a packed group, if the op has exactly one tensor on the other side.
  Bytes size;                     ///< From the start of the group to the end of the last member.

  [[nodiscard]] std::string_view field() const {
    return side == GroupSide::inputs ? "contiguous_inputs" : "contiguous_outputs";
  }
};

/// The alignment of a member of a padded group: its own if it has one, otherwise that of its
/// memory. The same for views.
[[nodiscard]] Bytes padded_alignment(const Graph& graph, TensorId tensor);

}  // namespace stowage
