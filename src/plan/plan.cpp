#include "stowage/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage {

std::string_view to_string(ArenaKind kind) {
  switch (kind) {
    case ArenaKind::shared:
      return "shared";
    case ArenaKind::fixed:
      return "fixed";
    case ArenaKind::session:
      return "session";
    case ArenaKind::persistent:
      return "persistent";
    case ArenaKind::pool:
      return "pool";
    case ArenaKind::user:
      return "user";
  }
  return "unknown";
}

Bytes Plan::peak() const {
  Bytes sum;
  for (const Arena& arena : arenas) {
    if (is_paid(arena.kind)) sum += arena.size;
  }
  return sum;
}

Bytes Plan::lower_bound() const {
  Bytes sum;
  for (const Arena& arena : arenas) {
    if (is_paid(arena.kind)) sum += arena.lower_bound;
  }
  return sum;
}

}  // namespace stowage
