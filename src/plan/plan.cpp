#include "stowage/plan/plan.hpp"

#include "plan/interface/plan_file.hpp"

namespace stowage {
namespace {

/// Sums a figure of the arenas that count towards the peak.
Bytes sum_over_paid(const std::vector<Arena>& arenas, Bytes Arena::* figure) {
  Bytes sum;
  for (const Arena& arena : arenas) {
    if (is_paid(arena.kind)) sum += arena.*figure;
  }
  return sum;
}

}  // namespace

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
    case ArenaKind::ring:
      return "pool";
    case ArenaKind::user:
      return "user";
  }
  return "unknown";
}

Bytes Plan::peak() const { return sum_over_paid(arenas, &Arena::size); }
Bytes Plan::lower_bound() const { return sum_over_paid(arenas, &Arena::lower_bound); }

Bytes PlanFile::peak() const { return sum_over_paid(arenas, &Arena::size); }
Bytes PlanFile::lower_bound() const { return sum_over_paid(arenas, &Arena::lower_bound); }

}  // namespace stowage
