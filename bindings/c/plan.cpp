#include <algorithm>
#include <stop_token>

#include "handles.hpp"
#include "stowage/plan/plan_file.hpp"
#include "stowage/report.hpp"
#include "stowage/verify.hpp"
#include "times.hpp"

namespace stowage::c {
namespace {

Status check_sizes(const stowage_plan_options& from) {
  const bool negative = from.capacity < 0 || from.capacity_total < 0 || from.region_limit < 0 || from.fuse_inputs < 0;
  if (negative) return Error{ErrorCode::invalid, "a size in stowage_plan_options is negative", {}};
  return Done{};
}

/// The earlier plan in the ids of this graph.
Result<Plan> previous_plan(const Graph& graph, const stowage_plan& previous) {
  if (!previous.planned.plan) return Error{ErrorCode::invalid, "the previous plan has no answer", {}};
  const std::string text = plan_to_json(previous.planned.graph, *previous.planned.plan);
  STOWAGE_TRY(const std::shared_ptr<const PlanFile> file, parse_plan_file(text, "the previous plan"));
  return known_part(graph, *file);
}

std::optional<Bytes> present(std::int64_t bytes) { return bytes == 0 ? std::nullopt : std::optional(Bytes(bytes)); }

Result<PlanOptions> plan_options(const Graph& graph, const stowage_plan_options& from, std::stop_source& stop) {
  STOWAGE_TRY_STATUS(check_sizes(from));
  PlanOptions options{.in_place = from.no_in_place == 0,
                      .keep_inputs = from.keep_inputs != 0,
                      .extra_copies = from.no_extra_copies == 0,
                      .no_reuse = from.no_reuse != 0,
                      .zero_fill = from.separate_fills != 0 ? FillPolicy::separate : FillPolicy::central,
                      .base = from.refreshable_base != 0 ? AddressBase::refreshable : AddressBase::fixed,
                      .batch_start = from.same_batch_start != 0 ? BatchStart::same : BatchStart::free,
                      .padding = from.padding_none != 0 ? Padding::none : Padding::own,
                      .region_limit = present(from.region_limit),
                      .fuse_inputs_up_to = Bytes(from.fuse_inputs),
                      .capacity = present(from.capacity),
                      .capacity_total = present(from.capacity_total),
                      .solver = text_or(from.solver, "auto"),
                      .time_limit = time_limit_of(from.time_limit),
                      .threads = std::max(1U, from.threads),
                      .seed = from.seed,
                      .memory_priority = from.memory_priority != 0,
                      .keep_offsets = from.keep_offsets != 0,
                      .stop = stop.get_token()};
  if (from.node_budget > 0) options.node_budget = from.node_budget;
  if (from.previous) {
    STOWAGE_TRY(options.previous, previous_plan(graph, *from.previous));
  }
  if (from.on_better) {
    options.on_better = [progress = from.on_better, user = from.user, &stop](const PlanProgress& better) {
      const std::string arena(better.arena);
      if (progress(user, arena.c_str(), better.peak.value(), better.lower_bound.value()) != 0) stop.request_stop();
    };
  }
  return options;
}

void fill_arrays(stowage_plan& plan) {
  const std::size_t tensors = plan.planned.graph.tensors().size();
  plan.offsets.assign(tensors, -1);
  plan.arenas.assign(tensors, STOWAGE_NONE);
  plan.regions.assign(tensors, 0);
  if (!plan.planned.plan) return;
  for (const Placement& each : plan.planned.plan->placements) {
    plan.offsets[each.tensor.index()] = each.offset.value();
    plan.arenas[each.tensor.index()] = static_cast<std::uint32_t>(each.arena.index());
    plan.regions[each.tensor.index()] = each.region;
  }
}

Result<const Plan*> plan_of(const stowage_plan* plan) {
  if (!plan) return null_argument("plan");
  if (!plan->planned.plan) return Error{ErrorCode::invalid, "planning found no answer, so there is no plan", {}};
  return &*plan->planned.plan;
}

/// The parts of a Planned that a plan file alone gives.
Planned planned_from_file(const Graph& graph, Plan plan) {
  Planned planned{.graph = graph, .status = plan.proven_optimal() ? SolveStatus::optimal : SolveStatus::feasible};
  planned.lower_bound = plan.lower_bound();
  planned.plan = std::move(plan);
  return planned;
}

stowage_figures figures_of(const stowage_plan& plan) {
  const Summary summary = summarize(plan.planned);
  stowage_figures figures{};
  figures.outcome = static_cast<stowage_outcome>(plan.planned.status);
  figures.proven = summary.proven_optimal ? 1 : 0;
  figures.peak = summary.peak.value();
  figures.lower_bound = summary.lower_bound.value();
  figures.weights = summary.weights.value();
  figures.total = summary.total.value();
  figures.naive = plan.from_file ? -1 : summary.naive.value();
  figures.milliseconds = summary.solve_ms;
  return figures;
}

Status store(std::string text, stowage_text** to, const char* name) {
  if (!to) return null_argument(name);
  *to = new stowage_text{std::move(text)};
  return Done{};
}

Status make_plan(const stowage_graph* graph, const stowage_plan_options* given, stowage_plan** to) {
  if (!graph) return null_argument("graph");
  if (!to) return null_argument("plan");
  STOWAGE_TRY(const stowage_plan_options from, read_struct(given, "stowage_plan_options"));
  std::stop_source stop;
  STOWAGE_TRY(const PlanOptions options, plan_options(graph->graph, from, stop));
  STOWAGE_TRY(Planned planned, plan(graph->graph, options));
  auto made = std::make_unique<stowage_plan>(stowage_plan{std::move(planned)});
  fill_arrays(*made);
  *to = made.release();
  return Done{};
}

Status verify_plan(const stowage_graph* graph, const stowage_plan* given, const stowage_plan_options* options,
                   size_t* count, stowage_text** json) {
  if (!graph) return null_argument("graph");
  STOWAGE_TRY(const Plan* const plan, plan_of(given));
  STOWAGE_TRY(const stowage_plan_options from, read_struct(options, "stowage_plan_options"));
  STOWAGE_TRY_STATUS(check_sizes(from));
  const VerifyOptions rules{.keep_inputs = from.keep_inputs != 0,
                            .base = from.refreshable_base != 0 ? AddressBase::refreshable : AddressBase::fixed,
                            .region_limit = present(from.region_limit),
                            .batch_start = from.same_batch_start != 0 ? BatchStart::same : BatchStart::free};
  const std::vector<Finding> findings = verify(graph->graph, *plan, rules);
  if (json) {
    const bool valid = findings.empty();
    STOWAGE_TRY_STATUS(store(findings_to_json(findings, valid ? unchecked_claims(graph->graph, *plan, rules)
                                                              : std::vector<UncheckedClaim>{}),
                             json, "json"));
  }
  if (count) *count = findings.size();
  return Done{};
}

Status explain_graph(const stowage_graph* graph, const stowage_plan_options* given, std::int64_t capacity,
                     double time_limit, stowage_text** json) {
  if (!graph) return null_argument("graph");
  STOWAGE_TRY(const stowage_plan_options from, read_struct(given, "stowage_plan_options"));
  std::stop_source stop;
  STOWAGE_TRY(PlanOptions options, plan_options(graph->graph, from, stop));
  constexpr double kUsualSeconds = 20;
  const ExplainOptions explaining{
      .plan = std::move(options), .budget = present(capacity), .time_limit = time_limit_of(time_limit, kUsualSeconds)};
  STOWAGE_TRY(const Explanation explanation, explain(graph->graph, explaining));
  return store(explanation_to_json(explanation), json, "json");
}

Status page_of(const stowage_plan* plan, const char* label, stowage_text** html) {
  if (!plan) return null_argument("plan");
  if (plan->from_file)
    return Error{ErrorCode::unsupported, "a page shows a plan that was made here, not one from a file", {}};
  if (!plan->planned.has_answer()) return Error{ErrorCode::unsupported, "there is no plan to show", {}};
  const PlanScene scene(plan->planned);
  STOWAGE_TRY(std::string text,
              plan_page(scene, {.label = text_or(label), .capacity = plan->planned.options.capacity}));
  return store(std::move(text), html, "html");
}

template <class T>
const T* list_of(const std::vector<T>* values, std::size_t* count) {
  if (count) *count = values ? values->size() : 0;
  return values ? values->data() : nullptr;
}

const Arena* arena_of(const stowage_plan* plan, std::size_t arena) {
  if (!plan || !plan->planned.plan || arena >= plan->planned.plan->arenas.size()) return nullptr;
  return &plan->planned.plan->arenas[arena];
}

}  // namespace
}  // namespace stowage::c

using namespace stowage;
using namespace stowage::c;

extern "C" {

stowage_status* stowage_plan_make(const stowage_graph* graph, const stowage_plan_options* options,
                                  stowage_plan** plan) {
  return guarded([&] { return make_plan(graph, options, plan); });
}

stowage_status* stowage_plan_from_bytes(const stowage_graph* graph, const void* bytes, size_t size, const char* name,
                                        stowage_plan** plan) {
  return guarded([&]() -> Status {
    if (!graph) return null_argument("graph");
    if (!plan) return null_argument("plan");
    if (!bytes && size > 0) return null_argument("bytes");
    STOWAGE_TRY(Plan read, parse_plan({static_cast<const char*>(bytes), size}, text_or(name), graph->graph));
    auto made = std::make_unique<stowage_plan>(stowage_plan{planned_from_file(graph->graph, std::move(read)), true});
    fill_arrays(*made);
    *plan = made.release();
    return Done{};
  });
}

stowage_status* stowage_plan_to_bytes(const stowage_plan* plan, stowage_text** bytes) {
  return guarded([&]() -> Status {
    STOWAGE_TRY(const Plan* const content, plan_of(plan));
    return store(plan_to_json(plan->planned.graph, *content), bytes, "bytes");
  });
}

stowage_status* stowage_plan_summary(const stowage_plan* plan, stowage_text** json) {
  return guarded([&]() -> Status {
    if (!plan) return null_argument("plan");
    return store(summary_to_json(summarize(plan->planned)), json, "json");
  });
}

stowage_status* stowage_plan_shortage(const stowage_plan* plan, stowage_text** text) {
  return guarded([&]() -> Status {
    if (!plan) return null_argument("plan");
    return store(plan->from_file ? "" : shortage_text(plan->planned), text, "text");
  });
}

stowage_status* stowage_plan_figures(const stowage_plan* plan, stowage_figures* figures) {
  return guarded([&]() -> Status {
    if (!plan) return null_argument("plan");
    if (!figures) return null_argument("figures");
    STOWAGE_TRY_STATUS(check_size_set(*figures, "stowage_figures"));
    write_struct(figures, figures_of(*plan));
    return Done{};
  });
}

const int64_t* stowage_plan_offsets(const stowage_plan* plan, size_t* count) {
  return list_of(plan ? &plan->offsets : nullptr, count);
}

const uint32_t* stowage_plan_arenas(const stowage_plan* plan, size_t* count) {
  return list_of(plan ? &plan->arenas : nullptr, count);
}

const uint32_t* stowage_plan_regions(const stowage_plan* plan, size_t* count) {
  return list_of(plan ? &plan->regions : nullptr, count);
}

int64_t stowage_plan_workspace(const stowage_plan* plan, uint32_t op, uint32_t workspace, uint32_t* arena,
                               uint32_t* region) {
  if (!plan || !plan->planned.plan) return -1;
  const std::vector<WorkspacePlacement>& all = plan->planned.plan->workspaces;
  const auto wanted = std::pair(OpId(op), workspace);
  const auto found = std::lower_bound(
      all.begin(), all.end(), wanted,
      [](const WorkspacePlacement& each, const auto& key) { return std::pair(each.op, each.index) < key; });
  if (found == all.end() || std::pair(found->op, found->index) != wanted) return -1;
  if (arena) *arena = static_cast<uint32_t>(found->arena.index());
  if (region) *region = found->region;
  return found->offset.value();
}

size_t stowage_plan_arena_count(const stowage_plan* plan) {
  return plan && plan->planned.plan ? plan->planned.plan->arenas.size() : 0;
}

stowage_status* stowage_plan_arena(const stowage_plan* plan, size_t arena, stowage_arena* info) {
  return guarded([&]() -> Status {
    if (!info) return null_argument("info");
    STOWAGE_TRY_STATUS(check_size_set(*info, "stowage_arena"));
    const Arena* const found = arena_of(plan, arena);
    if (!found) return Error{ErrorCode::invalid, "the plan has no arena " + std::to_string(arena), {}};
    stowage_arena result{};
    result.name = found->name.c_str();
    result.memory = plan->planned.graph.memory(found->memory).name.c_str();
    result.kind = to_string(found->kind).data();  // a literal
    result.size = found->size.value();
    result.lower_bound = found->lower_bound.value();
    result.proven = found->proven_optimal ? 1 : 0;
    result.region_count = static_cast<uint32_t>(found->regions.size());
    write_struct(info, result);
    return Done{};
  });
}

int64_t stowage_plan_region_size(const stowage_plan* plan, size_t arena, size_t region) {
  const Arena* const found = arena_of(plan, arena);
  return found && region < found->regions.size() ? found->regions[region].value() : -1;
}

void stowage_plan_free(stowage_plan* plan) { delete plan; }

stowage_status* stowage_verify(const stowage_graph* graph, const stowage_plan* plan,
                               const stowage_plan_options* options, size_t* count, stowage_text** json) {
  return guarded([&] { return verify_plan(graph, plan, options, count, json); });
}

stowage_status* stowage_explain(const stowage_graph* graph, const stowage_plan_options* options, int64_t capacity,
                                double time_limit, stowage_text** json) {
  return guarded([&] { return explain_graph(graph, options, capacity, time_limit, json); });
}

stowage_status* stowage_page(const stowage_plan* plan, const char* label, stowage_text** html) {
  return guarded([&] { return page_of(plan, label, html); });
}

}  // extern "C"
