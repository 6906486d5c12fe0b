#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/report/diff.hpp"

/// The details of a `PlanDiff`. Users read them as text, as JSON or in a page.
namespace stowage {

/// A tensor or workspace of one or both plans.
struct DiffEntry {
  enum class Change : std::uint8_t { grew, shrank, appeared, vanished, moved };
  Change change;
  std::string name;
  std::optional<Bytes> before;    ///< Bytes in A.
  std::optional<Bytes> after;     ///< Bytes in B.
  std::string arena_before = {};  ///< The arena's name; empty if the plan does not place it.
  std::string arena_after = {};
  std::optional<Bytes> offset_before = {};
  std::optional<Bytes> offset_after = {};
};

[[nodiscard]] std::string_view to_string(DiffEntry::Change change);

struct ArenaChange {
  std::string name;
  ArenaKind kind = ArenaKind::shared;
  std::optional<Bytes> before;
  std::optional<Bytes> after;
};

struct DiffDetails {
  std::vector<ArenaChange> arenas;  ///< Those of A in their order, then those that only B has.
  std::vector<DiffEntry> entries;   ///< By kind of change, the largest change first (for moved: the largest entry).
};

}  // namespace stowage
