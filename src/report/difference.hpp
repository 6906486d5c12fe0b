#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/report/diff.hpp"

/// What a `PlanDiff` consists of. Users read it as text, as JSON or in a page.
namespace stowage {

/// A tensor or workspace of one or both plans. Matched by name, those of equal names in their
/// order; by number where a side has no names.
struct DiffEntry {
  enum class Change : std::uint8_t { grew, shrank, appeared, vanished, moved };
  Change change;
  std::string name;
  std::optional<Bytes> before;    ///< Bytes in A.
  std::optional<Bytes> after;     ///< Bytes in B.
  std::string arena_before = {};  ///< Its name; empty where it is not there.
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
  std::vector<ArenaChange> arenas;  ///< Those of A in their order, then what only B has.
  std::vector<DiffEntry> entries;   ///< By kind of change, largest change (for moved: largest) first.
};

}  // namespace stowage
