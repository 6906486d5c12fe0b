#pragma once

#include <cstdint>
#include <vector>

#include "verify/copies.hpp"
#include "verify/rules.hpp"

/// The rules about the relative places of tensors: views and aliases, contiguous groups, values that
/// go into and out of bodies.
namespace stowage::verification {

/// Bytes that belong to both `source` and `derived`, because a packed op copies nothing.
struct Packed {
  OpId op;
  ValueId source;
  ValueId derived;
  std::size_t cell;
  ByteRange bytes;
};

/// How the plan realises groups and bodies.
struct Links {
  std::vector<Packed> packed;
  /// By value, then by copy: those at distances from each other that groups and bodies demand have the same number.
  std::vector<std::uint32_t> demanded;
  /// The same, and also where the options tie groups of different batches, or zero-copy inputs, to each other.
  std::vector<std::uint32_t> tied;
  /// By value: those that share bytes on purpose have the same number. They are parts and wholes, or one hands its
  /// bytes over to the other.
  std::vector<std::uint32_t> kin;
  /// By value: whether it lies in a packed whole, and therefore requires only its own
  /// alignment, not that of its memory.
  std::vector<char> part;
  /// By value: whether that whole is persistent, and therefore the part too.
  std::vector<char> persistent_part;
};

/// Checks all rules about groups and bodies, and gives each copy its role. A copy without a role is a finding.
[[nodiscard]] Links check_links(const Case& input, Copies& copies, Findings& findings);

/// Checks that views and aliases lie at their offsets in their bases.
void check_layout(const Case& input, Findings& findings);

}  // namespace stowage::verification
