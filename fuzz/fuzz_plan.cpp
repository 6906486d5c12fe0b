#include "fuzz.hpp"
#include "plan/interface/plan_file.hpp"
#include "stowage/io.hpp"
#include "stowage/verify.hpp"

/// Any bytes give either a plan, which survives writing and reading and which `verify` can check, or an error with a
/// message.
namespace stowage::fuzz {
namespace {

/// A loop that negates what it carries.
Op loop(TensorId from, TensorId to) {
  const Tensor each{.name = "carried", .size = Bytes(64)};
  const Op neg{.name = "neg", .kind = "NEG", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}};
  const Body body{{each, each}, {neg}, {{from, TensorId(0)}}, {{TensorId(1), to}}, {{TensorId(1), TensorId(0)}}};
  return {
      .name = "loop", .kind = "LOOP", .inputs = {from}, .outputs = {to}, .control = Control::loop, .bodies = {body}};
}

/// The graph of the seed plans, so that some inputs are nearly valid. Its plan has entries in every list.
Graph small_graph() {
  GraphBuilder builder("net");
  builder.add(Memory{.name = "cpu", .alignment = Bytes(32)});
  const RingId ring = builder.add(Ring{.name = "ring", .size = Bytes(64)});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = TensorFlag::input});
  const TensorId w = builder.add(Tensor{.name = "w", .size = Bytes(32), .flags = TensorFlag::constant});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(64)});
  const TensorId v = builder.add(Tensor{.name = "v", .size = Bytes(32), .view_of = ViewOf{y, Bytes(32)}});
  const TensorId z = builder.add(Tensor{.name = "z", .size = Bytes(32), .flags = TensorFlag::output});
  const TensorFlags callers{TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable};
  const TensorId u = builder.add(Tensor{.name = "u", .size = Bytes(64), .flags = callers});
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(16)});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(64)});
  const TensorId r = builder.add(Tensor{.name = "r", .size = Bytes(64)});
  const TensorId p = builder.add(Tensor{.name = "p", .size = Bytes(64)});
  const TensorId q = builder.add(Tensor{.name = "q", .size = Bytes(64)});
  builder.add(Op{.name = "f", .kind = "MUL", .inputs = {x, w}, .outputs = {y}, .workspaces = {{.size = Bytes(16)}}});
  builder.add(Op{.name = "g", .kind = "NEG", .inputs = {v}, .outputs = {z}, .stream = StreamId(1)});
  builder.add(Op{.name = "sum",
                 .kind = "SUM",
                 .inputs = {u},
                 .outputs = {a, b},
                 .contiguous_outputs = Contiguity::padded,
                 .zero_fill = {.outputs = {0, 1}},
                 .fixed_address = true});
  builder.add(loop(b, r));
  builder.add(Op{.name = "load p", .kind = "LOAD", .outputs = {p}, .stream = StreamId(1), .prefetch = ring});
  builder.add(Op{.name = "use p", .kind = "USE", .inputs = {p, r, a}});
  builder.add(Op{.name = "load q", .kind = "LOAD", .outputs = {q}, .stream = StreamId(1), .prefetch = ring});
  builder.add(Op{.name = "use q", .kind = "USE", .inputs = {q}});
  return builder.build().value();
}

}  // namespace
}  // namespace stowage::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;
  static const Graph graph = fuzz::small_graph();
  const Result<PlanFile> plan = parse_plan(fuzz::as_text(data, size), "fuzz");
  if (!plan) {
    fuzz::expect_useful(plan.error());
    return 0;
  }
  const Result<PlanFile> again = parse_plan(plan_to_json(*plan), "again");
  fuzz::expect(again.has_value() && *again == *plan, "a plan changed on the way through a file");
  for (const Finding& finding : verify(graph, *plan))
    fuzz::expect(!finding.message.empty(), "a finding without a message");
  return 0;
}
