#include "stowage/verify.hpp"

#include "verify/findings.hpp"
#include "verify/order.hpp"
#include "verify/overlap.hpp"
#include "verify/places.hpp"
#include "verify/rules.hpp"
#include "verify/values.hpp"

namespace stowage {

std::string_view to_string(Rule rule) {
  switch (rule) {
    case Rule::reference:
      return "reference";
    case Rule::missing:
      return "missing";
    case Rule::size:
      return "size";
    case Rule::bounds:
      return "bounds";
    case Rule::alignment:
      return "alignment";
    case Rule::arena:
      return "arena";
    case Rule::layout:
      return "layout";
    case Rule::overlap:
      return "overlap";
    case Rule::claim:
      return "claim";
  }
  return "unknown";
}

std::vector<Finding> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options) {
  using namespace verification;
  Findings findings(options.max_findings);
  const Order order(graph);
  const Values values(graph, order, options.keep_inputs);
  const Places places(graph, plan, findings);
  const Case input{graph, plan, values, places};
  check_header(graph, plan, findings);
  check_placements(input, findings);
  check_layout(input, findings);
  check_region_limits(input, findings);
  check_overlaps(input, order, findings);
  return findings.take();
}

}  // namespace stowage
