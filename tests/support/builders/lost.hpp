#pragma once

#include <string>
#include <vector>

#include "support/builders/plans.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Plans that lose a value, or seem to.
namespace stowage::verification {

/// What shadow execution finds in eight orders of three runs each.
inline std::vector<std::string> seen_by_running(const Graph& graph, const Plan& plan) {
  using Order = testing::ShadowOptions::Order;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const testing::ShadowOptions options{
        .seed = seed, .order = seed == 0 ? Order::linear : Order::random, .max_findings = 3, .runs = 3};
    std::vector<std::string> findings = testing::shadow_execute(graph, plan, options).findings;
    if (!findings.empty()) return findings;
  }
  return {};
}

/// The verifier refuses the plan with that rule and these words, and running the plan goes wrong.
inline void expect_lost(const Graph& graph, const Plan& plan, Rule rule, const char* words) {
  EXPECT_THAT(verify(graph, plan), Contains(Breaks(rule, words)));
  EXPECT_FALSE(seen_by_running(graph, plan).empty()) << "no order of a run shows it";
}

/// The verifier accepts the plan, and it runs.
inline void expect_kept(const Graph& graph, const Plan& plan) {
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  EXPECT_THAT(seen_by_running(graph, plan), IsEmpty());
}

inline Graph graph_from(GraphDescription description) {
  Result<Graph> graph = Graph::build(std::move(description));
  if (!graph) ADD_FAILURE() << to_string(graph.error());
  return std::move(graph).value();
}

/// The plan with these tensors in the arena for constants and variables.
inline Plan in_weights(Plan plan, const std::vector<std::size_t>& tensors) {
  for (Placement& each : plan.placements) {
    if (std::find(tensors.begin(), tensors.end(), each.tensor.index()) != tensors.end()) each.arena = ArenaId(1);
  }
  return plan;
}

inline Op packed_inputs(Op op) {
  op.contiguous_inputs = Contiguity::packed;
  return op;
}
inline Op packed_outputs(Op op) {
  op.contiguous_outputs = Contiguity::packed;
  return op;
}
/// Its first output lies in its first input.
inline Op refers(Op op, std::int64_t offset = 0) {
  op.aliases = {{0, 0, Bytes(offset)}};
  return op;
}
inline Op filled(Op op) {
  op.zero_fill.outputs = {0};
  return op;
}
inline Op controlled(Control control, Op op, std::vector<Body> bodies) {
  op.control = control;
  op.bodies = std::move(bodies);
  return op;
}
inline BodyInput given(std::size_t outer, std::size_t inner) { return {TensorId(outer), TensorId(inner)}; }
inline BodyOutput result(std::size_t inner, std::size_t outer) { return {TensorId(inner), TensorId(outer)}; }
inline Carried carried(std::size_t out, std::size_t in) { return {TensorId(out), TensorId(in)}; }

}  // namespace stowage::verification
