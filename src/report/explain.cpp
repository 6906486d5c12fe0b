#include "stowage/report/explain.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "report/constraints.hpp"
#include "report/gains.hpp"
#include "report/story.hpp"
#include "report/trials.hpp"

namespace stowage {
namespace {

using namespace report;  // the module's own parts

/// How long an explanation may look for what binds on several streams, whatever its limit.
constexpr std::chrono::milliseconds kForBinding(500);

std::function<bool()> stop_after(std::chrono::nanoseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  return [deadline] { return std::chrono::steady_clock::now() >= deadline; };
}

std::vector<Cost> costs_of(const Graph& graph, const ExplainOptions& options, const Outcome& base, Trials& trials) {
  std::vector<Cost> costs;
  for (Relaxed& one : relaxed(graph, plan_options(options))) {
    Cost cost{one.constraint, one.without, {}, {}};
    const std::optional<Trial> trial =
        trials.plan(std::move(one.graph).build_graph(), one.options, "without " + one.constraint);
    if (trial) {
      cost.peak = trial->outcome.peak;
      cost.cost = base.peak - trial->outcome.peak;
      cost.proven = base.proven && trial->outcome.proven;
    }
    costs.push_back(std::move(cost));
  }
  // Largest first; entries of equal cost keep the order of the table, hence the index in the key.
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t c = 0; c < costs.size(); ++c)
    order.emplace_back(costs[c].cost ? -costs[c].cost->value() : kMaxBytes.value(), c);
  std::sort(order.begin(), order.end());
  std::vector<Cost> sorted;
  for (const auto& [rank, c] : order) sorted.push_back(std::move(costs[c]));
  return sorted;
}

/// The constraints that suffice alone, or together.
void drop_constraints(const Graph& graph, const ExplainOptions& options, const std::vector<Cost>& costs, Trials& trials,
                      BudgetAnswer& answer) {
  std::vector<std::string> costly;
  for (Relaxed& one : relaxed(graph, plan_options(options))) {
    const auto cost =
        std::find_if(costs.begin(), costs.end(), [&](const Cost& each) { return each.constraint == one.constraint; });
    if (cost == costs.end() || !cost->cost || *cost->cost <= Bytes(0)) continue;
    costly.push_back(one.constraint);
    const std::optional<Trial> trial =
        trials.plan(std::move(one.graph).build_graph(), one.options, "without " + one.constraint);
    if (trial && trial->outcome.fits(answer.asked)) answer.constraints.push_back(one.constraint);
  }
  if (!answer.constraints.empty() || costly.size() < 2) return;
  Relaxed all = relaxed_together(graph, plan_options(options), costly);
  const std::optional<Trial> trial =
      trials.plan(std::move(all.graph).build_graph(), all.options, "without " + all.constraint);
  if (!trial) return;
  answer.together_peak = trial->outcome.peak;
  if (trial->outcome.fits(answer.asked)) answer.together = std::move(costly);
}

/// An answer without any yet.
BudgetAnswer asked_for(const Budget& asked, const Outcome& base) {
  BudgetAnswer answer{.asked = asked,
                      .budget = kMaxBytes,
                      .most = Bytes(0),
                      .constraints = {},
                      .together = {},
                      .together_peak = {},
                      .shrink = {},
                      .reason = {}};
  for (std::size_t m = 0; m < base.by_memory.size(); ++m) {
    const Bytes allowed = std::max(Bytes(0), base.allowed(asked, m));
    answer.budget = std::min(answer.budget, allowed);
    answer.most = std::max(answer.most, allowed);
  }
  return answer;
}

bool weights_alone_exceed(const Budget& asked, const Outcome& base) {
  return asked.total &&
         std::any_of(base.weights.begin(), base.weights.end(), [&](Bytes weights) { return weights > *asked.total; });
}

BudgetAnswer answer_budget(const Graph& graph, const ExplainOptions& options, const ExplanationDetails& so_far,
                           Trials& trials, GainSearch& search, const Outcome& base) {
  BudgetAnswer answer = asked_for({.peak = options.budget, .total = options.budget_total}, base);
  answer.fits = base.fits(answer.asked);
  if (answer.fits) return answer;
  drop_constraints(graph, options, so_far.costs, trials, answer);
  if (weights_alone_exceed(answer.asked, base)) {
    answer.reason = "the weights alone take more";
    return answer;
  }
  const std::size_t skipped = trials.skipped();
  const std::optional<Found> found = search.fit(answer.asked);
  if (found) {
    answer.shrink = search.describe(*found);
  } else {
    const bool ran_out = trials.skipped() > skipped || trials.time_is_out();
    answer.reason =
        ran_out ? "the time for re-plans ran out" : "the rest is memory of fixed size, such as prefetch rings";
  }
  return answer;
}

void add_gains_alone(const std::vector<Told>& told, std::size_t top, GainSearch& search,
                     ExplanationDetails& explanation) {
  std::size_t tried = 0;
  for (std::size_t a = 0; a < told.size(); ++a) {
    ArenaStory& story = explanation.arenas[a];
    for (std::size_t h = 0; h < told[a].holders.size() && tried < 2 * top; ++h, ++tried)
      story.peaks[story.fullest].holders[h].gain = search.gain_alone(*told[a].holders[h]);
  }
}

}  // namespace

Result<Explanation> explain(const Graph& graph, const ExplainOptions& options) {
  STOWAGE_TRY(const Planned planned, plan(graph, plan_options(options)));
  if (!planned.has_answer()) return Error{ErrorCode::unsupported, "no plan was found in the time given", {}};
  return explain(planned, options);
}

Explanation explain(const PlanScene& base, const ExplainOptions& options) {
  const Scene& scene = base.scene();
  const Graph& graph = scene.graph();
  Trials trials(base.planned(), options);
  const Stock stock(scene);
  GainSearch search(scene, stock, trials, options);

  Explanation explanation;
  explanation.summary = summarize(base.planned());
  const auto details = std::make_shared<ExplanationDetails>(ExplanationDetails{.graph = graph});
  explanation.details = details;
  details->within = options.within;
  const std::vector<Told> told =
      tell_arenas(scene, options, options.time_limit ? stop_after(kForBinding) : [] { return false; });
  for (const Told& each : told) details->arenas.push_back(each.story);
  details->largest_op = largest_op(scene);
  explanation.cause = cause_of(explanation);

  // What the caller asked for explicitly comes first, or there might be no time left for it.
  details->costs = costs_of(graph, options, trials.base(), trials);
  if (options.budget || options.budget_total)
    details->budget = answer_budget(graph, options, *details, trials, search, trials.base());
  add_gains_alone(told, options.top, search, *details);
  details->gains = search.gains();
  explanation.replans = trials.replans();
  explanation.skipped = trials.skipped();
  return explanation;
}

}  // namespace stowage
