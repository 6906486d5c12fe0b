#include "planning.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <optional>
#include <utility>

#include "cgraph_to_graph.hpp"
#include "planner/interface/plan_with.hpp"
#include "report.hpp"
#include "stowage/pack.hpp"
#include "stowage/plan.hpp"

namespace stowage::ggml {
namespace {

/// The CPU time that this thread has used so far, independent of other load on the machine.
std::chrono::nanoseconds worked() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// The limit is one of CPU time: on a busy machine the deadline may pass before the solver has run long enough; then it
/// is called again.
Result<SolveOutcome> solve_within(const Problem& problem, std::chrono::nanoseconds limit) {
  constexpr int kMostTries = 4;
  const std::chrono::nanoseconds start = worked();
  std::optional<SolveOutcome> best;
  for (int i = 0; i < kMostTries; ++i) {
    SolveOptions options;
    options.deadline = std::chrono::steady_clock::now() + limit;
    STOWAGE_TRY(SolveOutcome outcome, solve(problem, options));
    const bool better = !best || best->positions.empty() || (!outcome.positions.empty() && outcome.peak < best->peak);
    if (better) best = std::move(outcome);
    if (best->status == SolveStatus::optimal || worked() - start >= limit) break;
  }
  if (!best->positions.empty() || problem.items.empty()) return *std::move(best);
  SolveOptions any;  // lack of time is no reason to refuse a graph
  any.solver = "first_fit_by_size";
  return solve(problem, any);
}

Result<Plan> plan_graph(const Graph& graph, const Settings& settings) {
  // Verification takes a quarter of the time, and is optional here.
  STOWAGE_TRY(Planned planned, plan_with(graph, {.verify = false}, [&](const Problem& problem) {
                return solve_within(problem, settings.time_limit);
              }));
  if (!planned.plan) return Error{ErrorCode::unsupported, "no placement was found", {}};
  return *std::move(planned.plan);
}

/// Chunks are interchangeable, so their order can be chosen:
/// with the largest first, similar graphs need similar chunks.
struct ChunkOrder {
  std::vector<std::uint32_t> rank;  ///< Per region.
  std::vector<std::uint64_t> sizes;

  explicit ChunkOrder(const Arena& arena) : rank(arena.regions.size()) {
    std::vector<std::size_t> order(arena.regions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return arena.regions[a] != arena.regions[b] ? arena.regions[a] > arena.regions[b] : a < b;
    });
    for (const std::size_t region : order) {
      rank[region] = static_cast<std::uint32_t>(sizes.size());
      sizes.push_back(static_cast<std::uint64_t>(arena.regions[region].value()));
    }
    while (sizes.size() > 1 && sizes.back() == 0) sizes.pop_back();
  }
};

WalkPlan places_of(const GraphWalk& walk, const LeanGraph& lean, const Plan& plan, std::size_t memories) {
  WalkPlan result{.places = std::vector<ChunkPlace>(walk.tensors.size()), .chunks = ChunkSizes(memories)};
  std::vector<ChunkOrder> orders;
  for (const Arena& arena : plan.arenas) {
    orders.emplace_back(arena);
    result.chunks[arena.memory.index()] = orders.back().sizes;
  }
  std::vector<const Placement*> placement(lean.graph.tensors().size());
  for (const Placement& each : plan.placements) placement[each.tensor.index()] = &each;
  for (std::size_t i = 0; i < walk.tensors.size(); ++i) {
    if (walk.tensors[i].holding != Holding::own) continue;
    const Tensor& tensor = lean.graph.tensors()[lean.tensor_of[i]];
    ChunkPlace& place = result.places[i];
    place.memory = static_cast<std::uint32_t>(tensor.memory.index());
    place.size = static_cast<std::uint64_t>(tensor.size.value());
    const Placement* const found = placement[lean.tensor_of[i]];
    if (!found) continue;  // never accessed: any address will do
    place.chunk = orders[found->arena.index()].rank[found->region];
    place.offset = static_cast<std::uint64_t>(found->offset.value());
  }
  return result;
}

}  // namespace

Result<WalkPlan> plan_walk(const GraphWalk& walk, const BufferTypes& types, const Settings& settings) {
  STOWAGE_TRY(const LeanGraph lean, to_lean_graph(walk, types));
  STOWAGE_TRY(const Plan plan, plan_graph(lean.graph, settings));
  if (settings.verify || settings.report) STOWAGE_TRY_STATUS(judge_and_report({walk, types, lean, plan, settings}));
  return places_of(walk, lean, plan, types.distinct());
}

}  // namespace stowage::ggml
