#include "report/trials.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "planner/interface/record.hpp"

namespace stowage::report {
namespace {

using Clock = std::chrono::steady_clock;

Outcome outcome_of(const Planned& planned) {
  const Plan& plan = *planned.plan;
  const std::size_t memories = planned.graph.memories().size();
  Outcome outcome{plan.peak(), std::vector<Bytes>(memories), std::vector<Bytes>(memories), plan.proven_optimal()};
  for (const Arena& arena : plan.arenas) {
    if (is_paid(arena.kind)) outcome.by_memory[arena.memory.index()] += arena.size;
    if (arena.kind == ArenaKind::persistent) outcome.weights[arena.memory.index()] += arena.size;
  }
  return outcome;
}

}  // namespace

Bytes Outcome::allowed(const Budget& budget, std::size_t memory) const {
  const Bytes left = budget.total ? *budget.total - weights[memory] : kMaxBytes;
  return std::min(left, budget.peak.value_or(left));
}

bool Outcome::fits(const Budget& budget) const {
  for (std::size_t m = 0; m < by_memory.size(); ++m) {
    if (by_memory[m] > allowed(budget, m)) return false;
  }
  return true;
}

PlanOptions plan_options(const ExplainOptions& options) {
  PlanOptions result = options.plan;
  result.capacity.reset();
  result.capacity_total.reset();
  result.previous.reset();
  return result;
}

// -------------------------------------------------------------------------------------------------------------- stock

Stock::Stock(const Scene& scene) {
  for (const PlacedArena& arena : scene.arenas()) {
    if (!is_paid(arena.problem->kind) || arena.problem->kind == ArenaKind::ring) continue;
    for (const PlacedItem& item : arena.items) {
      rewrite::Dropped members;
      if (const auto* workspace = std::get_if<WorkspaceId>(&item.occupant)) {
        members.workspaces.push_back(*workspace);
        of_workspace_.emplace(std::pair(workspace->op, workspace->index), items_.size());
      } else {
        const Storage& storage = scene.layout().storage(std::get<StorageId>(item.occupant));
        for (const ClassId id : storage.classes) {
          for (const TensorId tensor : scene.tensors(id)) {
            members.tensors.push_back(tensor);
            of_tensor_.emplace(tensor, items_.size());
          }
        }
        if (members.tensors.empty()) continue;  // only copies: removed with their source
        std::sort(members.tensors.begin(), members.tensors.end());
      }
      items_.push_back(&item);
      members_.push_back(std::move(members));
    }
  }
}

Subset Stock::find(const Scene& scene, const PlacedItem& item, std::optional<Step> step) const {
  Subset found;
  if (const auto* workspace = std::get_if<WorkspaceId>(&item.occupant)) {
    const auto known = of_workspace_.find({workspace->op, workspace->index});
    if (known != of_workspace_.end()) found.insert(known->second);
    return found;
  }
  const Storage& storage = scene.layout().storage(std::get<StorageId>(item.occupant));
  for (const ClassId id : storage.classes) {
    if (scene.layout().classes[id].size == Bytes(0) || !is_needed(scene.liveness().lives[id], step)) continue;
    for (const TensorId tensor : scene.tensors(id)) {
      if (const auto known = of_tensor_.find(tensor); known != of_tensor_.end()) found.insert(known->second);
    }
  }
  return found;
}

rewrite::Dropped Stock::dropped(const Subset& subset) const {
  rewrite::Dropped all;
  for (const std::size_t number : subset) {
    const rewrite::Dropped& one = members_[number];
    all.tensors.insert(all.tensors.end(), one.tensors.begin(), one.tensors.end());
    all.workspaces.insert(all.workspaces.end(), one.workspaces.begin(), one.workspaces.end());
  }
  return all;
}

// ------------------------------------------------------------------------------------------------------------- trials

Trials::Trials(const Planned& base, const ExplainOptions& options)
    : graph_(base.graph), options_(options), base_(outcome_of(base)) {
  tried_.emplace(Subset{}, base_);
  if (options_.time_limit) deadline_ = Clock::now() + *options_.time_limit;
  const StageTimes& times = base.record->times;
  before_and_after_ = times.liveness + times.lower + times.verify;
}

std::optional<PlanOptions> Trials::limited(PlanOptions options) {
  if (!deadline_) return options;
  const std::chrono::nanoseconds rest = left();
  if (rest <= std::chrono::nanoseconds(0)) return std::nullopt;
  options.time_limit = std::min(options.time_limit.value_or(rest), rest);
  return options;
}

std::chrono::nanoseconds Trials::left() const {
  return deadline_ ? *deadline_ - Clock::now() - before_and_after_ : std::chrono::nanoseconds::max();
}

std::optional<Trial> Trials::plan(Result<Graph> graph, const PlanOptions& options, const std::string& what) {
  if (!graph) return std::nullopt;
  const std::optional<PlanOptions> with = limited(options);
  if (!with) {
    ++skipped_;
    return std::nullopt;
  }
  if (options_.on_replan) options_.on_replan(fmt::format("re-plan {}: {}", replans_ + 1, what));
  ++replans_;
  Result<Planned> planned = stowage::plan(*graph, *with);
  if (!planned || !planned->has_answer()) return std::nullopt;
  Outcome outcome = outcome_of(*planned);
  return Trial{std::move(outcome), std::move(*planned)};
}

std::optional<Trial> Trials::replan(const Stock& stock, const Subset& subset) {
  if (time_is_out()) {
    ++skipped_;
    tried_.try_emplace(subset, std::nullopt);
    return std::nullopt;
  }
  Result<rewrite::Rewritten> rest = rewrite::drop_tensors(graph_, rewrite::closed(graph_, stock.dropped(subset)));
  std::optional<Trial> trial =
      plan(rest ? Result<Graph>(std::move(rest->graph)) : std::move(rest).error(), plan_options(options_),
           fmt::format("without {} of {} holders", subset.size(), stock.size()));
  if (trial) {
    tried_.insert_or_assign(subset, trial->outcome);
  } else {
    tried_.try_emplace(subset, std::nullopt);  // keeps a known outcome when time has run out
  }
  return trial;
}

std::optional<Outcome> Trials::without(const Stock& stock, const Subset& subset) {
  if (const auto known = tried_.find(subset); known != tried_.end()) return known->second;
  const std::optional<Trial> trial = replan(stock, subset);
  return trial ? std::optional(trial->outcome) : std::nullopt;
}

}  // namespace stowage::report
