#include "planner/copy_choice.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/interface/sort_stably.hpp"
#include "graph/interface/relations.hpp"
#include "planner/strategies.hpp"
#include "stowage/pack.hpp"

namespace stowage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kSavesMemory = "a copy takes less memory: its own is free while the op runs";
constexpr double kUsualTrips = 8;  // of a loop that does not say how often it runs

double runs_of(const Graph& graph, ScopeId id) {
  double runs = 1;
  for (; id.index() != 0; id = graph.scope(id).parent) {
    const Op& op = graph.op(graph.scope(id).op);
    if (op.control != Control::loop) continue;
    runs *= op.trip_count ? static_cast<double>(*op.trip_count) : kUsualTrips;
  }
  return runs;
}

double work_of(const Graph& graph, const Layout& layout) {
  double work = 0;
  for (const PlannedCopy& copy : layout.copies)
    work += static_cast<double>(graph.tensor(copy.tensor).size.value()) * runs_of(graph, copy.scope);
  return work;
}

OpId op_of(const Graph& graph, const PlannedCopy& copy) {
  return OpId(graph.scope(copy.scope).first_op.index() + static_cast<std::size_t>(copy.before));
}

/// The copy of a member that a layout has; null if there is none.
const PlannedCopy* find_copy(const Graph& graph, const Layout& layout, const CopiedMember& member) {
  for (const PlannedCopy& copy : layout.copies) {
    if (copy.tensor == member.tensor && copy.before >= 0 && op_of(graph, copy) == member.op) return &copy;
  }
  return nullptr;
}

/// The least that the plans of these Problems can have.
Bytes least_peak(const Lowering& lowering) {
  Bytes least;
  for (const ArenaProblem& arena : lowering.arenas) {
    if (is_paid(arena.kind)) least += arena.size ? *arena.size : lower_bound(arena.problem).bytes;
  }
  return least;
}

/// A step at which most bytes are needed, by memory and for shared arenas only.
std::vector<Step> fullest_steps(const Graph& graph, const Lowering& lowering) {
  std::vector<Step> fullest(graph.memories().size());
  for (const ArenaProblem& arena : lowering.arenas) {
    if (arena.kind != ArenaKind::shared) continue;
    std::map<Step, Bytes> changes;
    for (const Item& item : arena.problem.items) {
      for (const Piece& piece : item.pieces) {
        changes[piece.when.lower] += piece.bytes.length();
        changes[piece.when.upper] -= piece.bytes.length();
      }
    }
    Bytes now;
    Bytes most;
    for (const auto& [step, change] : changes) {
      now += change;
      if (now > most) fullest[arena.memory.index()] = step;
      most = std::max(most, now);
    }
  }
  return fullest;
}

/// Whether the first is smaller, or as small with less copying.
struct Score {
  bool fits;
  Bytes peak;
  double work;

  [[nodiscard]] bool is_better_than(const Score& other) const {
    if (fits != other.fits) return fits;
    return peak != other.peak ? peak < other.peak : work < other.work;
  }
};

Score score_of(const Planned& planned, double work) {
  return {planned.has_answer(), planned.plan ? planned.plan->peak() : kMaxBytes, work};
}

void add(StageTimes& sum, const StageTimes& times) {
  sum.liveness += times.liveness;
  sum.lower += times.lower;
  sum.solve += times.solve;
  sum.verify += times.verify;
}

}  // namespace

CopyChoice::CopyChoice(const Graph& graph, const PlanOptions& options, const Search& search)
    : graph_(graph), options_(options), search_(search) {}

Result<Planned> CopyChoice::run() {
  STOWAGE_TRY(Try usual, plan_usually());
  best_ = std::move(usual);
  if (!members_.empty() || !always_.empty()) search_sets();
  add(best_->record->times, spent_);
  best_->planned.options.node_budget = options_.node_budget;
  return std::move(best_->planned);
}

/// A previous plan says what is copied. Where the groups of batches are to start alike, a copied group could not.
/// Regions of limited size are left alone: the copies of a group may need a region that is larger than verify allows.
bool CopyChoice::arises(const Graph& graph, const PlanOptions& options, const Search& search) {
  const bool limited = options.region_limit || std::any_of(graph.memories().begin(), graph.memories().end(),
                                                           [](const Memory& memory) { return memory.max_size; });
  if (limited) return false;
  if (options.previous) return true;
  const std::vector<Group>& groups = graph.relations().groups;
  const bool wanted = options.extra_copies && !options.no_reuse && !search && options.batch_start == BatchStart::free;
  return wanted && std::any_of(groups.begin(), groups.end(), [](const Group& group) {
           return group.side == GroupSide::inputs || group.kind == Contiguity::packed;
         });
}

Result<CopyChoice::Try> CopyChoice::plan_usually() {
  Attempt attempt{graph_, options_, search_};
  STOWAGE_TRY(std::shared_ptr<PlanningRecord> record, prepare(attempt));
  if (options_.previous) attempt.copied = copied_before(*record);
  if (!attempt.copied.empty()) {
    STOWAGE_TRY(record, prepare(attempt));
  }
  if (options_.time_limit) deadline_ = Clock::now() + *options_.time_limit;
  if (!options_.previous) find_members(*record);
  const bool others = !members_.empty() || !always_.empty();
  attempt.deadline = others ? share(3, 4) : deadline_;
  const double work = others ? work_of(graph_, record->analysis.layout) : 0;
  STOWAGE_TRY(Planned planned, complete(attempt, record));
  return Try{forced_, std::move(planned), std::move(record), work, true};
}

// ------------------------------------------------------------------------------------------------------------ members

/// What the previous plan copies, unless it need not do so any more.
CopiedMembers CopyChoice::copied_before(const PlanningRecord& record) const {
  const CopiedMembers members = copyable_members(graph_, record.analysis.layout.sharing);
  CopiedMembers copied;
  for (const Copy& copy : options_.previous->copies) {
    if (copy.when.kind != CopyMoment::Kind::before_op) continue;
    const CopiedMember* const member = find_copied(members, copy.when.op, copy.tensor);
    const bool known = std::any_of(copied.begin(), copied.end(), [&](const CopiedMember& each) {
      return each.op == copy.when.op && each.tensor == copy.tensor;
    });
    if (!member || known) continue;
    if (find_copy(graph_, record.analysis.layout, *member) || (options_.extra_copies && copy.reason == kSavesMemory))
      copied.push_back({member->op, member->tensor, copy.reason});
  }
  sort_stably(copied, [](const CopiedMember& a, const CopiedMember& b) { return a.op < b.op; });
  return copied;
}

void CopyChoice::find_members(const PlanningRecord& record) {
  const Layout& layout = record.analysis.layout;
  const std::vector<Step> fullest = fullest_steps(graph_, record.lowering);
  std::vector<std::pair<Bytes, CopiedMember>> ranked;
  for (CopiedMember& member : copyable_members(graph_, layout.sharing)) {
    const Tensor& tensor = graph_.tensor(member.tensor);
    const ClassId id = layout.class_of(member.tensor);
    const PlannedCopy* const copy = find_copy(graph_, layout, member);
    member.reason = copy ? copy->reason : kSavesMemory;
    if (layout.residences[id] == Residence::shared) {
      const std::span<const Interval> needed = record.analysis.liveness.lives[id].needed();
      const bool there = std::any_of(needed.begin(), needed.end(), [&](const Interval& each) {
        return each.contains(fullest[tensor.memory.index()]);
      });
      if (tensor.size > Bytes(0)) ranked.emplace_back(there ? layout.footprint(id) : Bytes(0), std::move(member));
    } else if (copy) {
      always_.push_back(std::move(member));
    }
  }
  sort_stably(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [bytes, member] : ranked) {
    if (find_copy(graph_, layout, member)) forced_.insert(members_.size());
    members_.push_back(std::move(member));
  }
}

/// Of one op, first what may free memory for the other copies.
CopiedMembers CopyChoice::copied(const Chosen& chosen) const {
  CopiedMembers copied;
  for (const std::size_t m : chosen) copied.push_back(members_[m]);
  copied.insert(copied.end(), always_.begin(), always_.end());
  sort_stably(copied, [](const CopiedMember& a, const CopiedMember& b) { return a.op < b.op; });
  return copied;
}

// --------------------------------------------------------------------------------------------------------------- sets

void CopyChoice::search_sets() {
  try_options_ = options_;
  try_options_.on_better = {};
  try_options_.node_budget = std::min(options_.node_budget.value_or(kTryNodes), kTryNodes);
  if (forced_.empty() && always_.empty()) tried_.insert(Chosen());
  for (const Chosen& each : first_sets()) consider(each);
  change_single_members();
  search_longer();
}

std::vector<CopyChoice::Chosen> CopyChoice::first_sets() const {
  std::vector<Chosen> sets = {forced_};
  const std::size_t count = members_.size();
  if (count <= kAllSubsets) {
    for (std::size_t mask = 0; mask < std::size_t{1} << count; ++mask) {
      Chosen& chosen = sets.emplace_back();
      for (std::size_t m = 0; m < count; ++m) {
        if ((mask >> m & 1) != 0) chosen.insert(m);
      }
    }
    sort_stably(sets, [](const Chosen& a, const Chosen& b) { return a.size() < b.size(); });
    return sets;
  }
  for (std::size_t m = 0; m < std::min(count, kMostSingles); ++m) sets.emplace_back(forced_).insert(m);
  std::vector<OpId> groups;  // in the order of their largest members
  for (const CopiedMember& each : members_) {
    if (std::find(groups.begin(), groups.end(), each.op) == groups.end()) groups.push_back(each.op);
  }
  for (std::size_t g = 0; g < std::min(groups.size(), kMostGroups); ++g) {
    Chosen& chosen = sets.emplace_back(forced_);
    for (std::size_t m = 0; m < count; ++m) {
      if (members_[m].op == groups[g]) chosen.insert(m);
    }
  }
  Chosen& all = sets.emplace_back();
  for (std::size_t m = 0; m < count; ++m) all.insert(all.end(), m);
  return sets;
}

void CopyChoice::change_single_members() {
  for (std::size_t m = 0; m < members_.size() && may_try();) {
    const Chosen before = best_->chosen;
    Chosen changed = before;
    if (changed.erase(m) == 0) changed.insert(m);
    consider(changed);
    m = best_->chosen == before ? m + 1 : 0;
  }
}

bool CopyChoice::may_try() const {
  const SolveStatus status = best_->planned.status;
  const bool decided = status == SolveStatus::optimal || status == SolveStatus::infeasible;
  const bool in_time = !options_.stop.stop_requested() && (!deadline_ || Clock::now() < *deadline_);
  return !decided && in_time && tried_.size() < kMostTries;
}

void CopyChoice::consider(const Chosen& chosen) {
  const bool too_large = chosen != forced_ && tried_.size() + chosen.size() >= kMostTries;  // to reduce it
  if (!may_try() || too_large || tried_.contains(chosen)) return;
  std::optional<Try> found = make(chosen, *best_);
  if (!found || (chosen != forced_ && !reduce(*found))) return;
  add(spent_, best_->record->times);
  best_ = std::move(found);
}

/// A smaller set that has been tried already is worse: it was no better than the best set then.
bool CopyChoice::reduce(Try& attempt) {
  const Chosen all = attempt.chosen;
  for (const std::size_t m : all) {
    Chosen fewer = attempt.chosen;
    fewer.erase(m);
    if (tried_.contains(fewer)) continue;
    if (!may_try()) return false;
    std::optional<Try> better = make(fewer, attempt);
    if (!better) continue;
    add(spent_, attempt.record->times);
    attempt = std::move(*better);
  }
  return true;
}

std::optional<CopyChoice::Try> CopyChoice::make(const Chosen& chosen, const Try& than) {
  tried_.insert(chosen);
  const Attempt attempt{graph_, try_options_, search_, copied(chosen), share(1, 4)};
  Result<std::shared_ptr<PlanningRecord>> record = prepare(attempt);
  if (!record) return std::nullopt;
  const double work = work_of(graph_, (*record)->analysis.layout);
  const Score least{true, least_peak((*record)->lowering), work};
  const Score best = score_of(than.planned, than.work);
  if (least.is_better_than(best)) {
    Result<Planned> planned = complete(attempt, *record);
    if (planned && planned->plan && score_of(*planned, work).is_better_than(best))
      return Try{chosen, std::move(*planned), std::move(*record), work};
  }
  add(spent_, (*record)->times);
  return std::nullopt;
}

/// The best set was tried with few nodes.
void CopyChoice::search_longer() {
  const bool short_of_nodes = !options_.node_budget || *options_.node_budget > kTryNodes;
  const bool in_time = !options_.stop.stop_requested() && (!deadline_ || Clock::now() < *deadline_);
  if (best_->usual || !short_of_nodes || !in_time || best_->planned.status == SolveStatus::optimal) return;
  const Attempt attempt{graph_, options_, search_, copied(best_->chosen), deadline_};
  Result<std::shared_ptr<PlanningRecord>> record = prepare(attempt);
  if (!record) return;
  Result<Planned> planned = complete(attempt, *record);
  const bool better = planned && score_of(*planned, best_->work).is_better_than(score_of(best_->planned, best_->work));
  add(spent_, (better ? best_->record : *record)->times);
  if (better) best_ = Try{best_->chosen, std::move(*planned), std::move(*record), best_->work};
}

std::optional<Clock::time_point> CopyChoice::share(std::int64_t parts, std::int64_t of) const {
  if (!deadline_) return std::nullopt;
  const Clock::time_point now = Clock::now();
  return *deadline_ <= now ? *deadline_ : now + (*deadline_ - now) * parts / of;
}

Result<Planned> plan_with(const Graph& graph, const PlanOptions& options, const Search& search) {
  if (CopyChoice::arises(graph, options, search)) return CopyChoice(graph, options, search).run();
  Attempt attempt{graph, options, search};
  STOWAGE_TRY(std::shared_ptr<PlanningRecord> record, prepare(attempt));
  if (options.time_limit) attempt.deadline = Clock::now() + *options.time_limit;
  return complete(attempt, std::move(record));
}

Result<Planned> plan_once(const Graph& graph, const PlanOptions& options) { return plan_with(graph, options, {}); }

}  // namespace stowage
