#include "fuzz.hpp"
#include "stowage/io.hpp"
#include "stowage/verify.hpp"

/// Any bytes either make a plan, which survives writing and reading and which `verify` can judge, or an error that says why not.
namespace stowage::fuzz {
namespace {

/// What the seed plans are for, so that some of them are nearly right.
Graph small_graph() {
  GraphBuilder builder("net");
  builder.add(Memory{.name = "cpu", .alignment = Bytes(32)});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = TensorFlag::input});
  const TensorId w = builder.add(Tensor{.name = "w", .size = Bytes(32), .flags = TensorFlag::constant});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(64)});
  const TensorId v = builder.add(Tensor{.name = "v", .size = Bytes(32), .view_of = ViewOf{y, Bytes(32)}});
  const TensorId z = builder.add(Tensor{.name = "z", .size = Bytes(32), .flags = TensorFlag::output});
  builder.add(Op{.name = "f", .kind = "MUL", .inputs = {x, w}, .outputs = {y}, .workspaces = {{.size = Bytes(16)}}});
  builder.add(Op{.name = "g", .kind = "NEG", .inputs = {v}, .outputs = {z}, .stream = StreamId(1)});
  return builder.build().value();
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  static const Graph graph = fuzz::small_graph();
  const Result<Plan> plan = parse_plan(fuzz::as_text(data, size), "fuzz");
  if (!plan) {
    fuzz::expect_useful(plan.error());
    return 0;
  }
  const Result<Plan> again = parse_plan(plan_to_json(*plan), "again");
  fuzz::expect(again.has_value() && *again == *plan, "a plan changed on the way through a file");
  for (const Finding& finding : verify(graph, *plan)) fuzz::expect(!finding.message.empty(), "a finding without a message");
  return 0;
}
