#include "support/judges/oracle/oracle.hpp"

#include "support/judges/oracle/runs.hpp"

namespace stowage::oracle {

Verdict Oracle::judge(const Plan& plan) const {
  if (facts_.graph.needs_addresses_only()) {
    if (std::optional<std::string> fault = rules_.broken(plan)) return {std::move(fault)};
  }
  Runs runs(facts_, plan, options_.keep_inputs);
  std::optional<std::string> fault = runs.judge(options_.max_runs);
  return {std::move(fault), runs.gave_up()};
}

}  // namespace stowage::oracle
