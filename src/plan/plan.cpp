#include "stowage/plan.hpp"

namespace stowage {

std::string_view to_string(ArenaKind kind) {
  switch (kind) {
    case ArenaKind::shared:
      return "shared";
    case ArenaKind::persistent:
      return "persistent";
  }
  return "unknown";
}

Bytes Plan::peak() const {
  Bytes sum;
  for (const Arena& arena : arenas) {
    if (arena.kind != ArenaKind::persistent) sum += arena.size;
  }
  return sum;
}

Bytes Plan::lower_bound() const {
  Bytes sum;
  for (const Arena& arena : arenas) {
    if (arena.kind != ArenaKind::persistent) sum += arena.lower_bound;
  }
  return sum;
}

}  // namespace stowage
