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

std::string_view to_string(BoundProof::Argument argument) {
  switch (argument) {
    case BoundProof::Argument::none:
      return "none";
    case BoundProof::Argument::live_bytes:
      return "live_bytes";
    case BoundProof::Argument::aligned:
      return "aligned";
    case BoundProof::Argument::unordered:
      return "unordered";
    case BoundProof::Argument::given:
      return "given";
    case BoundProof::Argument::search:
      return "search";
    case BoundProof::Argument::choices:
      return "choices";
  }
  return "unknown";
}

Bytes Plan::peak() const { return sum_over_paid(arenas, &Arena::size); }
Bytes Plan::lower_bound() const { return sum_over_paid(arenas, &Arena::lower_bound); }

Bytes PlanFile::peak() const { return sum_over_paid(arenas, &Arena::size); }
Bytes PlanFile::lower_bound() const { return sum_over_paid(arenas, &Arena::lower_bound); }

}  // namespace stowage
