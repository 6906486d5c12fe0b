#include "planner/checked_bounds.hpp"

#include <algorithm>

namespace stowage {
namespace {

struct Raised {
  ArenaId arena;
  Bytes bound;
};

/// Asked by claiming the size: what is returned is what cannot be checked of that, and how much can.
std::vector<Raised> find_raised(const Graph& graph, const Plan& plan, const std::vector<ArenaId>& asked,
                                const VerifyOptions& rules) {
  Plan claiming = plan;
  for (const ArenaId id : asked) {
    Arena& arena = claiming.arenas[id.index()];
    arena.lower_bound = arena.size;
    arena.proof = {.argument = BoundProof::Argument::search};
  }
  const std::vector<UncheckedClaim> unchecked = unchecked_claims(graph, claiming, rules);
  std::vector<Raised> raised;
  for (const ArenaId id : asked) {
    const auto claim =
        std::find_if(unchecked.begin(), unchecked.end(), [&](const UncheckedClaim& each) { return each.arena == id; });
    const Arena& arena = plan.arenas[id.index()];
    const Bytes bound = claim == unchecked.end() ? arena.size : std::min(claim->checked, arena.size);
    if (bound > arena.lower_bound) raised.push_back({id, bound});
  }
  return raised;
}

}  // namespace

bool exceeds_capacity(const std::vector<ArenaNeed>& needs, const Planned& planned) {
  std::vector<Bytes> bounds(planned.graph.memories().size());
  for (const ArenaNeed& need : needs) bounds[need.memory.index()] += need.lower_bound;
  for (std::size_t m = 0; m < bounds.size(); ++m) {
    const std::optional<Bytes> capacity = capacity_of(planned.options, planned.record->weights, MemoryId(m));
    if (capacity && bounds[m] > *capacity) return true;
  }
  return false;
}

namespace {

bool can_be_checked(const BoundProof& proof) {
  const BoundProof::Argument argument = proof.argument;
  return argument == BoundProof::Argument::live_bytes || argument == BoundProof::Argument::aligned ||
         argument == BoundProof::Argument::unordered;
}

/// Whether they exclude plans that `verify` would accept.
bool exclude_plans(const PlanOptions& options) {
  return !options.in_place || options.no_reuse || !options.no_reuse_names.empty() || options.keep_offsets ||
         !options.keep.empty() || options.zero_fill != FillPolicy::central || options.batch_start != BatchStart::free ||
         options.fuse_inputs_up_to > Bytes(0);
}

/// Arenas whose bounds rest on an argument that does not hold for every plan of the graph, first those whose bounds are
/// above the bytes that every plan needs.
std::vector<ArenaId> mark_choices(const Graph& graph, Plan& plan, const VerifyOptions& rules) {
  Plan asking = plan;
  for (Arena& arena : asking.arenas) {
    if (can_be_checked(arena.proof)) arena.proof = {.argument = BoundProof::Argument::search};
  }
  for (const UncheckedClaim& claim : unchecked_claims(graph, asking, rules)) {
    BoundProof& proof = plan.arenas[claim.arena.index()].proof;
    if (proof.argument == BoundProof::Argument::live_bytes) proof = {.argument = BoundProof::Argument::choices};
  }
  const std::vector<Finding> findings = verify(graph, plan, rules);
  const bool doubtful = !findings.empty() && findings.front().rule == Rule::claim;
  std::vector<ArenaId> marked;
  for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
    BoundProof& proof = plan.arenas[a].proof;
    if (doubtful && can_be_checked(proof)) proof = {.argument = BoundProof::Argument::choices};
    if (proof.argument == BoundProof::Argument::choices) marked.emplace_back(a);
  }
  return marked;
}

void set_bound(Planned& planned, std::vector<ArenaNeed>& needs, ArenaId id, Bytes bound) {
  Arena& arena = planned.plan->arenas[id.index()];
  const auto need = std::find_if(needs.begin(), needs.end(), [&](const ArenaNeed& each) {
    return each.memory == arena.memory && each.kind == arena.kind;
  });
  if (need != needs.end()) {
    planned.lower_bound += bound - arena.lower_bound;
    need->lower_bound = bound;
  }
  arena.lower_bound = bound;
  arena.proof = {};
  arena.proven_optimal = arena.size == bound;
}

/// Sets bounds that may prove what was open so far.
void raise(Planned& planned, std::vector<ArenaNeed>& needs, const std::vector<ArenaId>& asked,
           const VerifyOptions& rules) {
  for (const auto& [id, bound] : find_raised(planned.graph, *planned.plan, asked, rules))
    set_bound(planned, needs, id, bound);
  const bool meets = planned.plan->peak() == planned.lower_bound;
  const bool exceeds = exceeds_capacity(needs, planned);
  if (planned.status == SolveStatus::feasible && meets) planned.status = SolveStatus::optimal;
  if (planned.status == SolveStatus::timed_out && exceeds) planned.status = SolveStatus::infeasible;
}

}  // namespace

void raise_to_checked_bounds(const Lowering& lowering, const VerifyOptions& rules, std::vector<ArenaNeed>& needs,
                             Planned& planned) {
  std::vector<ArenaId> asked;
  for (std::size_t a = 0; a < lowering.arenas.size(); ++a) {
    const Arena& arena = planned.plan->arenas[a];
    if (!lowering.arenas[a].covers_graph && arena.lower_bound < arena.size) asked.emplace_back(a);
  }
  if (!asked.empty()) raise(planned, needs, asked, rules);
}

bool admit_choices(const PlanOptions& options, const VerifyOptions& rules, std::vector<ArenaNeed>& needs,
                   Planned& planned) {
  const std::vector<ArenaId> marked = mark_choices(planned.graph, *planned.plan, rules);
  if (exclude_plans(options) || marked.empty()) return false;
  for (const ArenaId id : marked) set_bound(planned, needs, id, Bytes(0));
  if (planned.status == SolveStatus::optimal) planned.status = SolveStatus::feasible;
  if (planned.status == SolveStatus::infeasible) planned.status = SolveStatus::timed_out;
  raise(planned, needs, marked, rules);
  return true;
}

}  // namespace stowage
