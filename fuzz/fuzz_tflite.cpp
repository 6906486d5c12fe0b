#include "fuzz.hpp"
#include "io/interface/tflite_plan.hpp"
#include "io/tflite/format.hpp"
#include "stowage/planner.hpp"
#include "stowage/report/export.hpp"
#include "stowage/verify.hpp"

/// Any bytes give either a graph or an error with a message. The graph gets a valid plan, which can be written to a
/// copy of the model or is refused with a reason. An existing plan in the file is verified, whatever it contains.
namespace stowage::fuzz {
namespace {

constexpr std::size_t kSmall = 64;  // planning must not slow down the search for inputs

/// The options depend on the input, so that the fuzzer explores them too.
ImportOptions options_for(std::size_t size) {
  ImportOptions options;
  options.views = size % 2 == 0;
  options.in_place = size / 2 % 2 == 0;
  return options;
}

void expect_copy_holds(std::string_view bytes, const Graph& graph, const ImportOptions& options) {
  const Result<Planned> planned = plan(graph, {.time_limit = std::nullopt, .node_budget = 1000});
  expect(planned.has_value(), "a graph cannot be planned");
  if (!planned->plan) return;
  for (const Finding& finding : verify(graph, *planned->plan)) expect(false, finding.message);
  const Result<std::string> copy = tflite_with_plan({bytes, "fuzz"}, *planned->plan, options);
  if (!copy) return expect_useful(copy.error());
  const Result<Graph> again = io::parse_tflite(*copy, "fuzz", options);
  expect(again.has_value() && again->description() == graph.description(), "a copy with a plan is another model");
  const Result<io::PlannedModel> read = io::parse_tflite_plan({bytes, "fuzz"}, {*copy, "fuzz"}, options);
  expect(read.has_value() && verify(read->graph, read->plan).empty(), "a plan does not hold after it was written");
}

void judge(std::string_view bytes, const ImportOptions& options) {
  const Result<io::PlannedModel> planned = io::parse_tflite_plan({bytes, "fuzz"}, {bytes, "fuzz"}, options);
  if (!planned) return expect_useful(planned.error());
  static_cast<void>(verify(planned->graph, planned->plan));
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  const std::string_view bytes = fuzz::as_text(data, size);
  const ImportOptions options = fuzz::options_for(size);
  const Result<Graph> graph = io::parse_tflite(bytes, "fuzz", options);
  if (!graph) {
    fuzz::expect_useful(graph.error());
    return 0;
  }
  fuzz::judge(bytes, options);
  if (graph->tensors().size() + graph->ops().size() <= fuzz::kSmall) fuzz::expect_copy_holds(bytes, *graph, options);
  return 0;
}
