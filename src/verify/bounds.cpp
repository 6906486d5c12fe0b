#include "verify/bounds.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "verify/live_bytes.hpp"

namespace stowage::verification {
namespace {

using Argument = BoundProof::Argument;

std::vector<std::uint8_t> task_ops(const Graph& graph) {
  std::vector<std::uint8_t> tasks;
  for (const Op& op : graph.ops()) tasks.push_back(op.no_task ? 0 : 1);
  return tasks;
}

/// The edges of the plan that lead forward in the root.
std::vector<Edge> usable_edges(const Case& input) {
  std::vector<Edge> edges;
  const std::size_t count = input.graph.scopes().front().op_count;
  for (const Edge edge : input.plan.edges) {
    if (edge.from < edge.to && edge.to.index() < count) edges.push_back(edge);
  }
  return edges;
}

/// By value: whether it is an output or workspace that must be filled as a whole, and a clear at the start fills it.
/// None that has padding, which something else may use until the op.
std::vector<char> find_filled_at_start(const Case& input, const std::vector<Extent>& extents, const Claims& claims,
                                       const Clears& clears) {
  std::vector<char> filled(input.values.size());
  const auto covered = [&](std::span<const std::uint32_t> list, const Claim& claim) {
    return std::any_of(list.begin(), list.end(), [&](std::uint32_t clear) {
      return clears[clear].cell == claim.cell && clears[clear].bytes.overlaps(claim.content());
    });
  };
  const auto look_at = [&](OpId op, ValueId value, Bytes size) {
    const auto holder = static_cast<HolderId>(value.index());
    if (size == Bytes(0) || extents[holder].content != size || extents[holder].size != size || !claims.has_any(holder))
      return;
    const Claim& claim = claims[claims.first(holder)];
    const bool later = op != OpId(0) && covered(clears.before(static_cast<std::uint32_t>(op.index())), claim);
    if (claim.content().length() == size && !later && covered(clears.at_start(), claim)) filled[holder] = 1;
  };
  for (std::size_t k = 0; k < input.graph.ops().size(); ++k) {
    const Op& op = input.graph.ops()[k];
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const TensorId tensor = op.outputs[output];
      look_at(OpId(k), input.values.of(tensor), input.graph.tensor(tensor).size);
    }
    for (const std::uint32_t w : op.zero_fill.workspaces)
      look_at(OpId(k), input.values.of(OpId(k), w), op.workspaces[w].size);
  }
  return filled;
}

class BoundCheck {
 public:
  BoundCheck(const Case& input, const Claims& claims, const Clears& clears, Findings& findings)
      : input_(input),
        findings_(findings),
        extents_(find_extents(input)),
        kin_(find_kin(input, extents_)),
        runs_(find_runs(input, find_filled_at_start(input, extents_, claims, clears))),
        takeovers_(input, extents_, runs_),
        live_bytes_(input, claims, extents_, kin_, runs_, takeovers_) {}

  std::vector<UncheckedClaim> run() {
    std::map<Share, std::vector<ArenaId>> shares;
    for (std::size_t a = 0; a < input_.plan.arenas.size() && !findings_.full(); ++a) {
      const Arena& arena = input_.plan.arenas[a];
      if (arena.memory.index() >= input_.graph.memories().size() || !names_what_exists(ArenaId(a))) continue;
      if (arena.kind == ArenaKind::ring || arena.kind == ArenaKind::user) continue;  // its size is given
      shares[{arena.memory, arena.kind}].emplace_back(a);
    }
    for (const auto& [share, arenas] : shares) check(share, arenas);
    return std::move(unchecked_);
  }

 private:
  static std::vector<RunNeeds> find_runs(const Case& input, const std::vector<char>& filled_at_start);

  bool names_what_exists(ArenaId id);
  void check(Share share, const std::vector<ArenaId>& arenas);
  /// What the arena's proof supports, for the sum of the bounds of all arenas of the share; nothing if it is none that
  /// can be checked.
  [[nodiscard]] std::optional<Bytes> proven(Share share, const Arena& arena, std::size_t regions) const;
  [[nodiscard]] Bytes unordered_bytes(Share share, const BoundProof& proof) const;
  [[nodiscard]] bool must_be_apart(const RunNeeds& run, ValueId a, ValueId b) const;
  [[nodiscard]] bool comes_before(const RunNeeds& run, ValueId a, ValueId b) const;
  [[nodiscard]] std::string reason(const BoundProof& proof) const;
  [[nodiscard]] std::string words_for_unchecked(ArenaId id, Bytes needed) const;

  const Case& input_;
  Findings& findings_;
  std::vector<Extent> extents_;
  KinSets kin_;
  std::vector<RunNeeds> runs_;
  Takeovers takeovers_;
  LiveBytes live_bytes_;
  std::vector<UncheckedClaim> unchecked_;
};

std::vector<RunNeeds> BoundCheck::find_runs(const Case& input, const std::vector<char>& filled_at_start) {
  const std::vector<std::uint8_t> tasks = task_ops(input.graph);
  const std::vector<Edge> edges = usable_edges(input);
  std::vector<std::string> batches(input.graph.batches().begin(), input.graph.batches().end());
  if (batches.empty()) batches.emplace_back();
  std::vector<RunNeeds> runs;
  for (const std::string& batch : batches) {
    Run run(input, batch);
    Course course(input.graph, run);
    Needs needs(input, run, course, filled_at_start);
    runs.push_back({std::move(run), std::move(course), std::move(needs), Order({input.graph, edges, tasks, batch})});
  }
  return runs;
}

bool BoundCheck::names_what_exists(ArenaId id) {
  const BoundProof& proof = input_.plan.arenas[id.index()].proof;
  const Graph& graph = input_.graph;
  const bool op = !proof.op || proof.op->index() < graph.ops().size();
  const bool tensors = std::all_of(proof.tensors.begin(), proof.tensors.end(),
                                   [&](TensorId tensor) { return tensor.index() < graph.tensors().size(); });
  const bool workspaces = std::all_of(proof.workspaces.begin(), proof.workspaces.end(), [&](WorkspaceId each) {
    return each.op.index() < graph.ops().size() && each.index < graph.op(each.op).workspaces.size();
  });
  if (op && tensors && workspaces) return true;
  findings_.add(Rule::reference, "the proof of the bound of {} names {} that does not exist", describe(input_.plan, id),
                !op        ? "an op"
                : !tensors ? "a tensor"
                           : "a workspace");
  return false;
}

void BoundCheck::check(Share share, const std::vector<ArenaId>& arenas) {
  Bytes claimed;
  std::size_t regions = 0;
  for (const ArenaId id : arenas) {
    claimed += std::clamp(input_.plan.arenas[id.index()].lower_bound, Bytes(0), kMaxBytes);
    regions += input_.plan.arenas[id.index()].regions.size();
  }
  const Bytes needed = live_bytes_.most(share);
  for (const ArenaId id : arenas) {
    const Arena& arena = input_.plan.arenas[id.index()];
    if (arena.lower_bound > arena.size) continue;  // reported with the arena
    const std::optional<Bytes> proof = proven(share, arena, regions);
    const bool unknown = arena.proof.argument == Argument::search || arena.proof.argument == Argument::choices;
    if (proof && *proof < arena.lower_bound) {
      findings_.add(Rule::claim, "{} claims the lower bound {} because of {}, which proves only {}",
                    describe(input_.plan, id), arena.lower_bound.value(), reason(arena.proof), proof->value());
    } else if (unknown && claimed > needed) {
      unchecked_.push_back({id, arena.lower_bound, needed, words_for_unchecked(id, needed)});
    } else if (claimed > std::max(needed, proof.value_or(needed)) && arena.lower_bound > Bytes(0)) {
      findings_.add(Rule::claim, "{} claims the lower bound {}, but at no step are more than {} bytes needed{}",
                    describe(input_.plan, id), arena.lower_bound.value(), needed.value(),
                    arenas.size() == 1 ? "" : " in all arenas of its memory and kind together");
    }
  }
}

std::optional<Bytes> BoundCheck::proven(Share share, const Arena& arena, std::size_t regions) const {
  const BoundProof& proof = arena.proof;
  switch (proof.argument) {
    case Argument::live_bytes:
      return live_bytes_.at(share, proof.op);
    case Argument::aligned: {
      const bool power = proof.alignment > Bytes(0) && is_power_of_two(proof.alignment);
      return power ? live_bytes_.aligned(share, proof.op, proof.alignment, regions) : Bytes(0);
    }
    case Argument::unordered:
      return unordered_bytes(share, proof);
    case Argument::given:
      return Bytes(0);  // neither a ring nor a caller's buffer
    case Argument::none:
    case Argument::search:
    case Argument::choices:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The sum of all that the proof names; 0 if some of it may share bytes, or lie elsewhere.
Bytes BoundCheck::unordered_bytes(Share share, const BoundProof& proof) const {
  if (input_.graph.stream_count() == 1) return {};
  std::vector<ValueId> values;
  for (const TensorId tensor : proof.tensors) values.push_back(input_.values.of(tensor));
  for (const WorkspaceId each : proof.workspaces) values.push_back(input_.values.of(each.op, each.index));
  Bytes sum;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool counts = live_bytes_.is_in(share, values[i]) && !live_bytes_.may_be_guest(share, values[i]) &&
                        kin_.set_of[values[i].index()] == 0;
    if (!counts) return {};
    for (std::size_t j = 0; j < i; ++j) {
      const bool apart = std::any_of(runs_.begin(), runs_.end(),
                                     [&](const RunNeeds& run) { return must_be_apart(run, values[i], values[j]); });
      if (!apart) return {};
    }
    sum += extents_[values[i].index()].size;
  }
  return sum;
}

/// Whether the two can never share a byte because of this run: neither is over before the other begins, whatever the
/// order of the streams, and neither may take over from the other.
bool BoundCheck::must_be_apart(const RunNeeds& run, ValueId a, ValueId b) const {
  if (a == b || run.needs.of(a).empty() || run.needs.of(b).empty() || takeovers_.are_linked(a, b)) return false;
  return !comes_before(run, a, b) && !comes_before(run, b, a);
}

/// Whether `a` may be over before `b` begins. Values that go into bodies or come out of them always may, and so may
/// those of groups, of which an op may read copies.
bool BoundCheck::comes_before(const RunNeeds& run, ValueId a, ValueId b) const {
  const auto moves = [&](ValueId id) {
    const Value& value = input_.values[id];
    return value.passed || value.handed || value.grouped;
  };
  if (moves(a) || moves(b)) return true;
  const Need last = run.needs.of(a).back();
  if (last.to == run.course.events.size() && last.open_end) return false;
  const Need first = run.needs.of(b).front();
  if (first.from == 0 && first.open_start) return false;
  const std::vector<std::uint32_t> earlier = takeovers_.ops_of(run, a);
  const std::vector<std::uint32_t> later = takeovers_.ops_of(run, b);
  return std::all_of(earlier.begin(), earlier.end(), [&](std::uint32_t from) {
    return std::all_of(later.begin(), later.end(), [&](std::uint32_t to) {
      return run.course.event_of[from] < run.course.event_of[to] &&
             run.order.happens_before({from, Phase::run}, {to, Phase::run});
    });
  });
}

std::string BoundCheck::words_for_unchecked(ArenaId id, Bytes needed) const {
  const Arena& arena = input_.plan.arenas[id.index()];
  const bool search = arena.proof.argument == Argument::search;
  return fmt::format("the lower bound {} of {} holds {}, not checked; at some step {} bytes are needed",
                     arena.lower_bound.value(), describe(input_.plan, id),
                     search ? "by search" : "by the choices and options of planning", needed.value());
}

std::string BoundCheck::reason(const BoundProof& proof) const {
  const std::string where = proof.op ? describe(input_.graph, *proof.op) : "the start";
  switch (proof.argument) {
    case Argument::live_bytes:
      return "the bytes that are needed at " + where;
    case Argument::aligned:
      return fmt::format("what is aligned to {} at {}", proof.alignment.value(), where);
    case Argument::unordered:
      return fmt::format("{} tensors and workspaces that cannot share bytes",
                         proof.tensors.size() + proof.workspaces.size());
    default:
      return "what the graph says";
  }
}

}  // namespace

std::vector<UncheckedClaim> check_bounds(const Case& input, const Claims& claims, const Clears& clears,
                                         Findings& findings) {
  if (findings.full()) return {};
  return BoundCheck(input, claims, clears, findings).run();
}

}  // namespace stowage::verification
