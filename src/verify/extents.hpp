#pragma once

#include <vector>

#include "verify/rules.hpp"

namespace stowage::verification {

/// How many bytes a value needs, whatever the plan.
struct Extent {
  Bytes lowest;        ///< Of its members' offsets (`Values::offset`).
  Bytes content;       ///< From its lowest byte to its highest.
  Bytes size;          ///< The same with padding, if it always has that.
  Bytes alignment{1};  ///< Of its lowest byte.
};

/// By value. A value that may be a part of a packed whole counts with its own alignment, because there it has no other.
/// It counts without padding, as does everything whose padding a plan may have to use for something else, because
/// groups or bodies tie the two together.
[[nodiscard]] std::vector<Extent> find_extents(const Case& input);

/// A value that may lie inside others. Values with the same `set` lie at fixed distances where a plan puts all of them
/// together; `offset` is where the lowest byte of this one is then. Without `consistent`, not all of them can be
/// together.
struct Kin {
  ValueId value;
  std::uint32_t set;
  Bytes offset;
};

/// What plans may put into the same bytes at the same time: parts and wholes of packed groups, and what goes into or
/// comes out of a body with what must not be shared.
struct KinSets {
  std::vector<std::vector<Kin>> sets;  ///< At least two values each.
  std::vector<char> consistent;        ///< By set.
  std::vector<std::uint32_t> set_of;   ///< By value: 1 + its set, or 0.
};

[[nodiscard]] KinSets find_kin(const Case& input, const std::vector<Extent>& extents);

}  // namespace stowage::verification
