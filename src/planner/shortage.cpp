#include <fmt/format.h>

#include "planner/interface/record.hpp"

namespace stowage {
namespace {

constexpr const char* kNeeded = "needs at least";

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

/// The weights count as a part of what is needed, and are proven to be.
MemoryNeed with_weights(MemoryNeed need, Bytes weights) {
  const std::string weighed = fmt::format("weights {}", weights.value());
  need.proven += weights;
  if (need.taken) *need.taken += weights;
  for (std::string* const list : {&need.proven_by_kind, &need.taken_by_kind})
    *list = list->empty() ? weighed : weighed + ", " + *list;
  need.arenas += 2;  // so that they are listed
  return need;
}

/// `who` needs it: a memory, or "it" if there is only one.
std::string describe(const std::string& who, const MemoryNeed& need, Bytes capacity) {
  const bool proven = need.proven > capacity;
  if (!proven && (!need.taken || *need.taken <= capacity)) return {};
  const Bytes bytes = proven ? need.proven : *need.taken;
  const std::string& kinds = proven ? need.proven_by_kind : need.taken_by_kind;
  return fmt::format("{} {} {} bytes, {} more than the {} available{}", who,
                     proven ? kNeeded : "takes, in the best plan so far,", bytes.value(), (bytes - capacity).value(),
                     capacity.value(), need.arenas > 1 ? fmt::format(" ({})", kinds) : "");
}

enum class Weights : std::uint8_t { left_out, counted };

std::string shortage(const Planned& planned, Bytes capacity, Weights weights) {
  const Graph& graph = planned.graph;
  std::string text;
  for (std::size_t m = 0; m < graph.memories().size(); ++m) {
    const std::string who = graph.memories().size() == 1 ? "it" : fmt::format("memory '{}'", graph.memories()[m].name);
    MemoryNeed need = need_of(planned, MemoryId(m));
    if (weights == Weights::counted && planned.record) need = with_weights(need, planned.record->weights[m]);
    const std::string line = describe(who, need, capacity);
    if (line.empty()) continue;
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

/// What the bounds rest on, if that is not the graph alone.
std::string with_conditions(const Planned& planned, const std::string& text) {
  const BoundOptions rests = bound_options(planned);
  if (text.find(kNeeded) == std::string::npos || !(rests.forbidding || rests.central_fills)) return text;
  return text + ", with these options" +
         (rests.central_fills ? "; filling memory right before its op (--zero-fill separate) may need less" : "");
}

}  // namespace

std::string shortage_text(const Planned& planned, Bytes capacity) {
  return with_conditions(planned, shortage(planned, capacity, Weights::left_out));
}

std::string shortage_text(const Planned& planned) {
  const PlanOptions& options = planned.options;
  const std::string text = options.capacity ? shortage_text(planned, *options.capacity) : "";
  if (!text.empty() || !options.capacity_total) return text;
  return with_conditions(planned, shortage(planned, *options.capacity_total, Weights::counted));
}

}  // namespace stowage
