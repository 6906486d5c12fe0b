#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stowage/plan.hpp"
#include "support/judges/oracle/graph_facts.hpp"

namespace stowage::oracle {

/// The rules about single placements: each exists, in a permitted place, with the right size. For graphs that need only
/// addresses: rules about groups, bodies, bindings and similar are not here.
class PlacementRules {
 public:
  explicit PlacementRules(const GraphFacts& facts) : facts_(facts), graph_(facts.graph) {}

  /// The first rule that the plan violates; none if it is correct. Numbers in the plan must be below 2^61.
  [[nodiscard]] std::optional<std::string> broken(const Plan& plan) const;

 private:
  [[nodiscard]] std::optional<std::string> bad_reference(const Plan& plan) const;
  [[nodiscard]] std::optional<std::string> bad_arena(const Plan& plan) const;
  [[nodiscard]] std::optional<std::string> bad_tensor(const Plan& plan) const;
  [[nodiscard]] std::optional<std::string> bad_workspace(const Plan& plan) const;
  [[nodiscard]] std::optional<std::string> bad_layout(const Plan& plan) const;
  [[nodiscard]] std::optional<std::string> bad_padding(const Plan& plan) const;
  [[nodiscard]] std::optional<std::string> bad_region(const Plan& plan) const;
  [[nodiscard]] bool has_anything_of(Bytes least, const Plan& plan, std::size_t arena, std::uint32_t region) const;
  [[nodiscard]] bool is_used(std::size_t owner) const;
  [[nodiscard]] Bytes alignment_of(std::size_t owner) const;

  const GraphFacts& facts_;
  const Graph& graph_;
};

}  // namespace stowage::oracle
