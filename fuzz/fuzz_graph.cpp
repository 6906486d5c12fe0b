#include "fuzz.hpp"
#include "plan/interface/plan_file.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"

/// Any bytes give either a graph, which survives writing and reading and gets a valid plan, or an error with a message.
namespace stowage::fuzz {
namespace {

constexpr std::size_t kSmall = 64;  // planning must not slow down the search for inputs

bool is_small(const Graph& graph) {
  std::size_t entries = graph.tensors().size();
  for (const Op& op : graph.ops()) entries += 1 + op.inputs.size() + op.outputs.size() + op.workspaces.size();
  return entries <= kSmall;
}

void expect_round_trip(const Graph& graph) {
  const Result<Graph> again = parse_graph(graph_to_json(graph), "again");
  expect(again.has_value(), "a graph that was written cannot be read");
  expect(again->description() == graph.description(), "a graph changed on the way through a file");
}

/// The options depend on the input, so that the fuzzer explores them too.
PlanOptions options_for(std::size_t size) {
  PlanOptions options{.time_limit = std::nullopt, .node_budget = 1000};
  options.zero_fill = size % 2 == 0 ? FillPolicy::central : FillPolicy::separate;
  options.base = size / 2 % 2 == 0 ? AddressBase::fixed : AddressBase::refreshable;
  options.batch_start = size / 4 % 2 == 0 ? BatchStart::free : BatchStart::same;
  if (size / 8 % 2 != 0) options.region_limit = Bytes(128);
  if (size / 16 % 2 != 0) options.fuse_inputs_up_to = Bytes(64);
  return options;
}

void expect_plan_holds(const Graph& graph, const PlanOptions& options) {
  const Result<Planned> planned = plan(graph, options);
  expect(planned.has_value(), "a graph cannot be planned");
  if (!planned->plan) return;
  const VerifyOptions verifying{.base = options.base, .region_limit = options.region_limit};
  for (const Finding& finding : verify(graph, *planned->plan, verifying)) expect(false, finding.message);
  const Result<PlanFile> again = parse_plan(plan_to_json(graph, *planned->plan), "again");
  expect(again.has_value() && resolve(graph, *again).plan == *planned->plan,
         "a plan changed on the way through a file");
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const Result<Graph> graph = parse_graph(fuzz::as_text(data, size), "fuzz");
  if (!graph) {
    fuzz::expect_useful(graph.error());
    return 0;
  }
  fuzz::expect_round_trip(*graph);
  if (fuzz::is_small(*graph)) fuzz::expect_plan_holds(*graph, fuzz::options_for(size));
  return 0;
}
