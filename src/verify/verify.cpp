#include "stowage/verify.hpp"

#include "plan/interface/plan_file.hpp"
#include "verify/apart.hpp"
#include "verify/bindings.hpp"
#include "verify/bounds.hpp"
#include "verify/claims.hpp"
#include "verify/clears.hpp"
#include "verify/copies.hpp"
#include "verify/findings.hpp"
#include "verify/limits.hpp"
#include "verify/links.hpp"
#include "verify/paddings.hpp"
#include "verify/places.hpp"
#include "verify/program.hpp"
#include "verify/rules.hpp"
#include "verify/values.hpp"
#include "verify/walk.hpp"

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
    case Rule::padding:
      return "padding";
    case Rule::arena:
      return "arena";
    case Rule::layout:
      return "layout";
    case Rule::overlap:
      return "overlap";
    case Rule::claim:
      return "claim";
    case Rule::group:
      return "group";
    case Rule::fill:
      return "fill";
    case Rule::copy:
      return "copy";
    case Rule::binding:
      return "binding";
    case Rule::edge:
      return "edge";
    case Rule::apart:
      return "apart";
    case Rule::program:
      return "program";
    case Rule::wait:
      return "wait";
  }
  return "unknown";
}

std::vector<Finding> verify(const Graph& graph, const Plan& plan, const VerifyOptions& options) {
  using namespace verification;
  Findings findings(options.max_findings);
  const Values values(graph, options.keep_inputs);
  const Cells cells(plan);
  const Places places(graph, plan, cells, findings);
  const Bindings bindings(graph, plan, values, findings);
  const Clears clears(graph, plan, cells, findings);
  Copies copies(graph, plan, cells, findings);
  const Case input{graph, plan, options, values, places, bindings, options.padding.value_or(plan.padding)};
  check_header(graph, plan, findings);
  check_edges(graph, plan, findings);
  check_layout(input, findings);
  const Links links = check_links(input, copies, findings);
  check_placements(input, links, copies, findings);
  check_copies(input, links, copies, findings);
  check_pools(input, findings);
  check_region_limits(input, links, copies, findings);
  Claims claims(input, copies, clears, cells);
  if (input.padding == Padding::own) {
    add_paddings(input, links, claims);
    check_paddings(input, claims, cells, findings);
  }
  check_apart(input, claims, cells, findings);
  (void)check_bounds(input, claims, clears, findings);
  const Facts facts{input, copies, clears, claims};
  const std::vector<std::vector<bool>> met_clears = walk(facts, links, cells.count(), findings);
  if (options.program && findings.empty()) check_program(facts, met_clears, findings);
  return findings.take();
}

std::vector<UncheckedClaim> unchecked_claims(const Graph& graph, const Plan& plan, const VerifyOptions& options) {
  using namespace verification;
  Findings ignored(1);
  const Values values(graph, options.keep_inputs);
  const Cells cells(plan);
  const Places places(graph, plan, cells, ignored);
  const Bindings bindings(graph, plan, values, ignored);
  const Clears clears(graph, plan, cells, ignored);
  const Copies copies(graph, plan, cells, ignored);
  const Case input{graph, plan, options, values, places, bindings, options.padding.value_or(plan.padding)};
  const Claims claims(input, copies, clears, cells);
  return check_bounds(input, claims, clears, ignored);
}

std::vector<UncheckedClaim> unchecked_claims(const Graph& graph, const PlanFile& file, const VerifyOptions& options) {
  return unchecked_claims(graph, resolve(graph, file).plan, options);
}

std::vector<Finding> verify(const Graph& graph, const PlanFile& file, const VerifyOptions& options) {
  verification::Findings findings(options.max_findings);
  const ResolvedPlan resolved = resolve(graph, file);
  if (!resolved.misnamed.empty()) findings.add(Rule::reference, "{}", resolved.misnamed);
  for (const std::string& each : resolved.unknown) findings.add(Rule::reference, "{}", each);
  std::vector<Finding> all = findings.take();
  if (!all.empty() && all.size() >= options.max_findings) return all;
  VerifyOptions rest = options;
  rest.max_findings -= all.size();
  for (Finding& each : verify(graph, resolved.plan, rest)) all.push_back(std::move(each));
  return all;
}

}  // namespace stowage
