#include "fuzz.hpp"
#include "io/onnx/format.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"

/// Any bytes give either a graph, which survives writing and reading and, if it is small, gets a valid plan, or an
/// error with a message; and what a graph was made of has no obstacles in it.
namespace stowage::fuzz {
namespace {

constexpr std::size_t kSmall = 64;  // planning must not slow down the search for inputs

/// The options depend on the input, so that the fuzzer explores them too.
ImportOptions options_for(std::size_t size) {
  return {.alignment = Bytes(size % 3 == 0 ? 1 : 64), .views = size % 2 == 0, .in_place = size % 5 != 0, .dims = {}};
}

void expect_round_trip(const Graph& graph) {
  const Result<Graph> again = parse_graph(graph_to_json(graph), "again");
  expect(again.has_value(), "a graph that was written cannot be read");
  expect(again->tensors().size() == graph.tensors().size(), "a graph changed on the way through a file");
}

void expect_plan_holds(const Graph& graph) {
  const Result<Planned> planned = plan(graph, {.time_limit = std::nullopt, .node_budget = 1000});
  expect(planned.has_value(), "a graph cannot be planned");
  if (!planned->plan) return;
  for (const Finding& finding : verify(graph, *planned->plan)) expect(false, finding.message);
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const ImportOptions options = fuzz::options_for(size);
  const Result<Graph> graph = io::parse_onnx(fuzz::as_text(data, size), "fuzz", options);
  const Result<FileInfo> info = io::inspect_onnx(fuzz::as_text(data, size), "fuzz", options);
  if (!info) fuzz::expect_useful(info.error());
  if (graph) fuzz::expect(info && info->unsupported.empty(), "what can be imported has obstacles");
  if (!graph) {
    fuzz::expect_useful(graph.error());
    return 0;
  }
  fuzz::expect_round_trip(*graph);
  if (graph->tensors().size() + graph->ops().size() <= fuzz::kSmall) fuzz::expect_plan_holds(*graph);
  return 0;
}
