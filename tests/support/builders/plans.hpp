#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/verify.hpp"

namespace stowage {

inline void PrintTo(Rule rule, std::ostream* out) { *out << to_string(rule); }
inline void PrintTo(const Finding& finding, std::ostream* out) {
  *out << to_string(finding.rule) << ": " << finding.message;
}

namespace verification {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

inline constexpr TensorFlags kInput = TensorFlag::input;
inline constexpr TensorFlags kOutput = TensorFlag::output;

using Offsets = std::vector<std::optional<std::int64_t>>;

inline Tensor tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
  return {.name = std::move(name), .size = Bytes(size), .flags = flags};
}

inline Tensor view(std::string name, std::int64_t size, std::size_t base, std::int64_t offset, TensorFlags flags = {}) {
  return {
      .name = std::move(name), .size = Bytes(size), .flags = flags, .view_of = ViewOf{TensorId(base), Bytes(offset)}};
}

inline Op op(std::string name, const std::vector<std::size_t>& inputs, const std::vector<std::size_t>& outputs) {
  Op result{.name = std::move(name), .kind = "TEST"};
  for (const std::size_t id : inputs) result.inputs.emplace_back(TensorId(id));
  for (const std::size_t id : outputs) result.outputs.emplace_back(id);
  return result;
}

inline Op op_in_place(std::string name, const std::vector<std::size_t>& inputs, const std::vector<std::size_t>& outputs,
                      std::vector<InPlacePair> pairs) {
  Op result = op(std::move(name), inputs, outputs);
  result.in_place = std::move(pairs);
  return result;
}

inline Op op_on(std::size_t stream, std::string name, const std::vector<std::size_t>& inputs,
                const std::vector<std::size_t>& outputs, const std::vector<std::size_t>& after = {}) {
  Op result = op(std::move(name), inputs, outputs);
  result.stream = StreamId(stream);
  for (const std::size_t id : after) result.after.emplace_back(id);
  return result;
}

inline Graph graph_of(std::vector<Tensor> tensors, std::vector<Op> ops,
                      std::vector<Memory> memories = {Memory{.name = "cpu"}}) {
  Result<Graph> graph = Graph::build({"test", std::move(memories), std::move(tensors), std::move(ops)});
  if (!graph) ADD_FAILURE() << to_string(graph.error());
  return std::move(graph).value();
}

/// Makes the arena exactly as large as its content, with matching claims.
inline void fit(Arena& arena, Bytes end) {
  if (arena.regions.empty()) arena.regions.emplace_back(0);
  arena.regions[0] = std::max(arena.regions[0], end);
  arena.size = arena.regions[0];
  arena.proven_optimal = arena.size == arena.lower_bound;
}

/// A plan of two arenas, "cpu" for tensors and workspaces, "weights" for constants and variables, with each tensor at
/// its offset (in order of ids, bodies after the root; none: no placement), and likewise each workspace.
inline Plan plan_of(const Graph& graph, const Offsets& tensors, const Offsets& workspaces = {}) {
  Plan plan{.graph = graph.name(), .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.arenas.push_back({.name = "cpu", .memory = {}, .size = {}, .regions = {}, .lower_bound = {}});
  plan.arenas.push_back(
      {.name = "weights", .memory = {}, .kind = ArenaKind::persistent, .size = {}, .regions = {}, .lower_bound = {}});
  for (Arena& arena : plan.arenas) fit(arena, Bytes(0));
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t]) continue;
    const TensorFlags flags = graph.tensors()[t].flags | graph.tensor(graph.root(TensorId(t)).tensor).flags;
    const std::size_t arena = flags.any_of({TensorFlag::constant, TensorFlag::variable}) ? 1 : 0;
    plan.placements.push_back({TensorId(t), ArenaId(arena), 0, Bytes(*tensors[t]), graph.tensors()[t].size});
    fit(plan.arenas[arena], plan.placements.back().offset + plan.placements.back().size);
  }
  std::size_t next = 0;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    for (std::uint32_t w = 0; w < graph.ops()[k].workspaces.size() && next < workspaces.size(); ++w, ++next) {
      if (!workspaces[next]) continue;
      plan.workspaces.push_back(
          {OpId(k), w, ArenaId(0), 0, Bytes(*workspaces[next]), graph.ops()[k].workspaces[w].size});
      fit(plan.arenas[0], plan.workspaces.back().offset + plan.workspaces.back().size);
    }
  }
  return plan;
}

/// One more arena, of one region.
inline ArenaId add_arena(Plan& plan, ArenaKind kind, std::int64_t size) {
  plan.arenas.push_back({.name = std::string(to_string(kind)),
                         .memory = {},
                         .kind = kind,
                         .size = Bytes(size),
                         .regions = {Bytes(size)},
                         .lower_bound = {}});
  return ArenaId(plan.arenas.size() - 1);
}

/// A clear in the first arena.
inline Clear clear_at(std::int64_t offset, std::int64_t size, std::size_t before, std::uint8_t value = 0) {
  return {ArenaId(0), 0, Bytes(offset), Bytes(size), value, OpId(before)};
}

inline constexpr CopyMoment kBodyEnd = CopyMoment::at_body_end();
inline constexpr CopyMoment kBackEdge = CopyMoment::at_back_edge();

/// A copy to the first arena.
inline Copy copy_to(std::int64_t offset, std::int64_t size, std::size_t tensor, CopyMoment when) {
  return {.tensor = TensorId(tensor),
          .when = when,
          .arena = ArenaId(0),
          .offset = Bytes(offset),
          .size = Bytes(size),
          .reason = "test"};
}
inline Copy copy_to(std::int64_t offset, std::int64_t size, std::size_t tensor, std::size_t before) {
  return copy_to(offset, size, tensor, CopyMoment::before(OpId(before)));
}

/// The plan with one more entry, its arena as large as that needs.
inline Plan with(Plan plan, Copy copy) {
  fit(plan.arenas[copy.arena.index()], copy.offset + copy.size);
  plan.copies.push_back(std::move(copy));
  return plan;
}
inline Plan with(Plan plan, Clear clear) {
  plan.clears.push_back(std::move(clear));
  return plan;
}

inline std::vector<Rule> rules(const std::vector<Finding>& findings) {
  std::vector<Rule> result;
  for (const Finding& finding : findings) result.push_back(finding.rule);
  return result;
}

MATCHER_P2(Breaks, rule, words,
           std::string("breaks the rule ") + std::string(to_string(rule)) + " and says: " + words) {
  return arg.rule == rule && arg.message.find(words) != std::string::npos;
}

}  // namespace verification
}  // namespace stowage
