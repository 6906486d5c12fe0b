#pragma once

#include <cstdint>
#include <vector>

#include "verify/copies.hpp"
#include "verify/rules.hpp"

/// The rules about where things lie relative to each other: views and aliases, contiguous groups, what goes into and
/// out of bodies.
namespace stowage::verification {

/// Bytes of `derived` that are those of `source`: a packed op moves nothing.
struct Packed {
  OpId op;
  ValueId source;
  ValueId derived;
  std::size_t cell;
  ByteRange bytes;
};

/// What the plan makes of groups and bodies.
struct Links {
  std::vector<Packed> packed;
  /// By value, then by copy: the same number for all that lie at fixed distances from each other, through groups too.
  std::vector<std::uint32_t> rigid;
  /// By value: the same number for all that share bytes on purpose, as parts and wholes or because one hands them to
  /// the other.
  std::vector<std::uint32_t> kin;
  /// By value: whether it lies in a packed whole, and so insists on no alignment but its own.
  std::vector<char> part;
  /// By value: whether that whole has an address for ever, and so the part too.
  std::vector<char> persistent_part;
};

/// Checks all of them, and gives each copy its role; a copy without one is a finding.
[[nodiscard]] Links check_links(const Case& input, Copies& copies, Findings& findings);

/// Views and aliases lie where their bases say.
void check_layout(const Case& input, Findings& findings);

}  // namespace stowage::verification
