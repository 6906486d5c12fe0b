#include <fmt/format.h>

#include "planner/interface/record.hpp"

namespace stowage {
namespace {

/// What one memory needs, by the same measure for all its arenas: the bounds if they prove that the capacity is too
/// small, otherwise the sizes.
struct MemoryNeed {
  Bytes proven;
  std::optional<Bytes> taken = Bytes(0);
  std::string proven_by_kind;
  std::string taken_by_kind;
  std::size_t arenas = 0;
};

void append(std::string& list, ArenaKind kind, Bytes bytes) {
  list += fmt::format("{}{} {}", list.empty() ? "" : ", ", to_string(kind), bytes.value());
}

MemoryNeed need_of(const Planned& planned, MemoryId memory) {
  MemoryNeed need;
  if (!planned.record) return need;
  for (const ArenaNeed& arena : planned.record->needs) {
    if (arena.memory != memory) continue;
    ++need.arenas;
    need.proven += arena.lower_bound;
    append(need.proven_by_kind, arena.kind, arena.lower_bound);
    if (!arena.size || !need.taken) {
      need.taken.reset();
      continue;
    }
    *need.taken += *arena.size;
    append(need.taken_by_kind, arena.kind, *arena.size);
  }
  return need;
}

/// `who` needs it: a memory, or "it" if there is only one.
std::string describe(const std::string& who, const MemoryNeed& need, Bytes capacity) {
  const bool proven = need.proven > capacity;
  if (!proven && (!need.taken || *need.taken <= capacity)) return {};
  const Bytes bytes = proven ? need.proven : *need.taken;
  const std::string& kinds = proven ? need.proven_by_kind : need.taken_by_kind;
  return fmt::format("{} {} {} bytes, {} more than the {} available{}", who,
                     proven ? "needs at least" : "takes, in the best plan so far,", bytes.value(),
                     (bytes - capacity).value(), capacity.value(), need.arenas > 1 ? fmt::format(" ({})", kinds) : "");
}

}  // namespace

std::string shortage_text(const Planned& planned, Bytes capacity) {
  const Graph& graph = planned.graph;
  std::string text;
  for (std::size_t m = 0; m < graph.memories().size(); ++m) {
    const std::string who = graph.memories().size() == 1 ? "it" : fmt::format("memory '{}'", graph.memories()[m].name);
    const std::string line = describe(who, need_of(planned, MemoryId(m)), capacity);
    if (line.empty()) continue;
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

}  // namespace stowage
