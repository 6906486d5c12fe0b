#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "stowage/plan.hpp"
#include "support/judges/oracle/graph_facts.hpp"
#include "support/judges/oracle/placement_rules.hpp"

/// The judge of the verifier: says from the rules alone, and without any cleverness, whether a plan is right. It shares
/// nothing with the verifier, which must agree with it on every plan.
///
///  1. Rules about one placement at a time, for graphs that ask for addresses only (placement_rules).
///  2. It runs the graph with the plan, byte by byte, in every way that it can go: each batch, each body of each
///  branch, no, one
///     and two trips of each loop. Every value writes marks of its own, and must find them again. What streams leave
///     open is decided by sets of predecessors. The layers of that: run_facts (what holds in every run), run_order
///     (events), run_marks (bytes), runs (goes through the ops).
namespace stowage::oracle {

struct OracleOptions {
  bool keep_inputs = false;
  std::size_t max_runs = 3000;  ///< It gives up when there are more ways to go.
};

struct Verdict {
  std::optional<std::string> fault;  ///< The first rule that the plan breaks; nothing when it is right.
  bool gave_up = false;

  [[nodiscard]] std::string text() const { return fault.value_or("right"); }
};

class Oracle {
 public:
  explicit Oracle(const Graph& graph, const OracleOptions& options = {})
      : facts_(graph), rules_(facts_), options_(options) {}
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// Numbers in the plan must be below 2^61. What it refers to must be there where the graph asks for more than
  /// addresses.
  [[nodiscard]] Verdict judge(const Plan& plan) const;

  /// Tensors that lie at fixed distances share a number.
  [[nodiscard]] std::size_t class_of(TensorId tensor) const { return facts_.owner(tensor); }

 private:
  GraphFacts facts_;
  PlacementRules rules_;
  OracleOptions options_;
};

}  // namespace stowage::oracle
