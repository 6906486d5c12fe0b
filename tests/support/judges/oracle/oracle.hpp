#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "stowage/plan.hpp"
#include "support/judges/oracle/graph_facts.hpp"
#include "support/judges/oracle/placement_rules.hpp"

/// The judge of the verifier: decides from the rules alone, as simply as possible, whether a plan is correct. It shares
/// no code with the verifier, which must agree with it on every plan.
///
/// 1. It checks the rules about single placements, for graphs that need only addresses (placement_rules).
/// 2. It runs the graph with the plan, byte by byte, in every possible way: each batch, each body of each branch, and
///    zero, one and two iterations of each loop. Every value writes its own marks, and must find them again. Order
///    between streams is decided by sets of predecessors. The layers: run_facts (what holds in every run), run_order
///    (events), run_marks (bytes), runs (iterates over the ops).
namespace stowage::oracle {

struct OracleOptions {
  bool keep_inputs = false;
  std::size_t max_runs = 3000;  ///< It gives up if there are more possible runs.
};

struct Verdict {
  std::optional<std::string> fault;  ///< The first rule that the plan violates; none if it is correct.
  bool gave_up = false;

  [[nodiscard]] std::string text() const { return fault.value_or("right"); }
};

class Oracle {
 public:
  explicit Oracle(const Graph& graph, const OracleOptions& options = {})
      : facts_(graph), rules_(facts_), options_(options) {}
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// Numbers in the plan must be below 2^61. If the graph needs more than addresses, everything that the plan refers to
  /// must exist.
  [[nodiscard]] Verdict judge(const Plan& plan) const;

  /// Tensors that lie at fixed distances share a number.
  [[nodiscard]] std::size_t class_of(TensorId tensor) const { return facts_.owner(tensor); }

 private:
  GraphFacts facts_;
  PlacementRules rules_;
  OracleOptions options_;
};

}  // namespace stowage::oracle
