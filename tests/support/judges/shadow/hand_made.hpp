#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Graphs and plans written down by hand.
namespace stowage::testing {

inline Graph built(GraphDescription description) {
  Result<Graph> graph = Graph::build(std::move(description));
  EXPECT_TRUE(graph) << (graph ? "" : to_string(graph.error()));
  return std::move(graph).value();
}

inline Graph built(std::vector<Tensor> tensors, std::vector<Op> ops, std::vector<Memory> memories = {}) {
  return built({"test", std::move(memories), std::move(tensors), std::move(ops)});
}

inline Tensor tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
  return {.name = std::move(name), .size = Bytes(size), .flags = flags};
}

inline Tensor view(std::string name, std::int64_t size, std::size_t base, std::int64_t offset) {
  return {.name = std::move(name), .size = Bytes(size), .view_of = ViewOf{TensorId(base), Bytes(offset)}};
}

inline Op op(std::string name, std::vector<std::size_t> inputs, std::vector<std::size_t> outputs) {
  Op result{.name = std::move(name), .kind = "OP"};
  for (const std::size_t input : inputs) result.inputs.push_back(TensorId(input));
  for (const std::size_t output : outputs) result.outputs.push_back(TensorId(output));
  return result;
}

/// An arena of one region.
inline Arena arena(ArenaKind kind, std::int64_t size) {
  return {.name = std::string(to_string(kind)),
          .memory = MemoryId(0),
          .kind = kind,
          .size = Bytes(size),
          .regions = {Bytes(size)},
          .lower_bound = {}};
}

/// Tensor i of the scope at `offsets[i]` of the arena; those with a negative offset have no place there.
inline void place(Plan& plan, const Graph& graph, std::vector<std::int64_t> offsets, std::size_t arena = 0,
                  std::size_t body = 0) {
  const Scope& scope = graph.scopes()[body];
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < 0) continue;
    const TensorId id(scope.first_tensor.index() + i);
    plan.placements.push_back({id, ArenaId(arena), 0, Bytes(offsets[i]), graph.tensor(id).size});
  }
}

inline Clear clear(std::int64_t offset, std::int64_t size, std::size_t before, std::uint8_t value = 0) {
  return {ArenaId(0), 0, Bytes(offset), Bytes(size), value, OpId(before)};
}

inline constexpr CopyMoment kBodyEnd = CopyMoment::at_body_end();
inline constexpr CopyMoment kBackEdge = CopyMoment::at_back_edge();

inline Copy copy(std::size_t tensor, CopyMoment when, std::int64_t offset, std::int64_t size) {
  return {TensorId(tensor), when, ArenaId(0), 0, Bytes(offset), Bytes(size), "by hand"};
}
inline Copy copy(std::size_t tensor, std::size_t before, std::int64_t offset, std::int64_t size) {
  return copy(tensor, CopyMoment::before(OpId(before)), offset, size);
}

/// A plan of one shared arena of that size.
inline Plan plan_of(const Graph& graph, std::int64_t size, std::vector<std::int64_t> offsets) {
  Plan plan;
  plan.arenas = {arena(ArenaKind::shared, size)};
  place(plan, graph, std::move(offsets));
  return plan;
}

/// A plan of one arena that is no larger than what lies in it.
inline Plan plan_at(const Graph& graph, std::vector<std::int64_t> offsets,
                    std::vector<WorkspacePlacement> workspaces = {}) {
  Plan plan = plan_of(graph, 0, std::move(offsets));
  plan.workspaces = std::move(workspaces);
  Bytes top;
  for (const Placement& each : plan.placements) top = std::max(top, each.offset + each.size);
  for (const WorkspacePlacement& each : plan.workspaces) top = std::max(top, each.offset + each.size);
  plan.arenas.front().size = top;
  plan.arenas.front().regions = {top};
  return plan;
}

inline std::vector<std::string> findings(const Graph& graph, const Plan& plan, const ShadowOptions& options = {}) {
  return shadow_execute(graph, plan, options).findings;
}

/// How many of the first 64 random orders, of so many runs each, show something wrong.
inline std::size_t orders_that_fail(const Graph& graph, const Plan& plan, ShadowOptions options = {}) {
  std::size_t failures = 0;
  options.order = ShadowOptions::Order::random;
  for (options.seed = 0; options.seed < 64; ++options.seed) {
    if (!findings(graph, plan, options).empty()) ++failures;
  }
  return failures;
}

}  // namespace stowage::testing
