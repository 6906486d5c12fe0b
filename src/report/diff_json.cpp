#include "files/interface/json_writer.hpp"
#include "report/difference.hpp"

namespace stowage {
namespace {

using files::OrderedJson;

OrderedJson optional_json(const std::optional<Bytes>& bytes) {
  return bytes ? OrderedJson(bytes->value()) : OrderedJson();
}

OrderedJson change_json(const ArenaChange& arena) {
  return {{"name", arena.name},
          {"kind", to_string(arena.kind)},
          {"before", optional_json(arena.before)},
          {"after", optional_json(arena.after)}};
}

OrderedJson entry_json(const DiffEntry& entry) {
  return {{"change", to_string(entry.change)},
          {"name", entry.name},
          {"before", optional_json(entry.before)},
          {"after", optional_json(entry.after)},
          {"arena_before", entry.arena_before},
          {"arena_after", entry.arena_after},
          {"offset_before", optional_json(entry.offset_before)},
          {"offset_after", optional_json(entry.offset_after)}};
}

OrderedJson run_json(const std::optional<ProgramCost>& cost) {
  if (!cost) return {};
  return {{"waits", cost->waits},
          {"fills", cost->fills},
          {"filled_bytes", cost->filled.value()},
          {"copies", cost->copies},
          {"copied_bytes", cost->copied.value()}};
}

}  // namespace

std::string diff_to_json(const PlanDiff& difference) {
  OrderedJson arenas = OrderedJson::array();
  for (const ArenaChange& arena : difference.details->arenas) arenas.push_back(change_json(arena));
  OrderedJson entries = OrderedJson::array();
  for (const DiffEntry& entry : difference.details->entries) entries.push_back(entry_json(entry));
  const OrderedJson json{{"schema", "stowage.diff/1"},
                         {"graph_before", difference.graph_before},
                         {"graph_after", difference.graph_after},
                         {"by_number", difference.by_number},
                         {"peak_before", difference.peak_before.value()},
                         {"peak_after", difference.peak_after.value()},
                         {"growth_bytes", difference.growth().value()},
                         {"bound_before", difference.bound_before.value()},
                         {"bound_after", difference.bound_after.value()},
                         {"run_before", run_json(difference.cost_before)},
                         {"run_after", run_json(difference.cost_after)},
                         {"arenas", arenas},
                         {"unchanged", difference.unchanged},
                         {"entries", entries}};
  return files::to_line(json) + "\n";
}

}  // namespace stowage
