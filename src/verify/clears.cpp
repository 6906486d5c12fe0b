#include "verify/clears.hpp"

namespace stowage::verification {

Clears::Clears(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings)
    : entries_(plan.clears.size()) {
  for (std::uint32_t i = 0; i < plan.clears.size() && !findings.full(); ++i) {
    const Clear& clear = plan.clears[i];
    const std::string who = fmt::format("clear {}", i);
    ClearEntry& entry = entries_[i];
    if (!read(graph, clear, who, entry, findings)) continue;
    Place place{clear.arena, clear.region, clear.offset, clear.size, {}};
    cells.resolve(plan, who, place, findings);
    if (!place.cell) continue;
    const std::optional<ByteRange> bytes = range_at(clear.offset, clear.size);
    const Bytes top = plan.arenas[clear.arena.index()].regions[clear.region];
    if (clear.size <= Bytes(0) || clear.offset < Bytes(0) || !bytes || bytes->upper > top) {
      findings.add(Rule::bounds, "{} of {} bytes {} does not lie in [0, {})", who, clear.size.value(),
                   describe(plan, place), top.value());
      continue;
    }
    entry.cell = *place.cell;
    entry.bytes = *bytes;
    entry.exists = true;
    (entry.at_start ? at_start_ : before_[static_cast<std::uint32_t>(entry.before.index())]).push_back(i);
  }
}

bool Clears::read(const Graph& graph, const Clear& clear, const std::string& who, ClearEntry& entry,
                  Findings& findings) {
  if (clear.before.index() >= graph.ops().size()) {
    findings.add(Rule::reference, "{} is before op {}, which does not exist", who, clear.before.index());
    return false;
  }
  entry.before = clear.before;
  entry.at_start = entry.before == OpId(0);
  entry.value = clear.value;
  entry.arena = clear.arena;
  if (entry.at_start || !graph.op(entry.before).no_task) return true;
  findings.add(Rule::fill, "{} is before {}, which has no task, so nothing defines when it runs", who,
               describe(graph, entry.before));
  return false;
}

std::span<const std::uint32_t> Clears::before(std::uint32_t op) const {
  const auto found = before_.find(op);
  if (found == before_.end()) return {};
  return found->second;
}

}  // namespace stowage::verification
