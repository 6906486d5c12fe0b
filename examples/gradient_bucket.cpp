// A training step that really runs: gradients are accumulated in a bucket that starts at zero and is one range of
// memory, an all-reduce on its own stream works on the bucket in place, and the weights are updated.
//
// The plan says what must be cleared, where the streams must wait, and where everything lies; `run` does it.

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "stowage/stowage.hpp"

namespace {

using namespace stowage;

constexpr std::int64_t kWords = 112;  // rows of an embedding, and of a table of pairs of words
constexpr std::int64_t kPairs = 60;
constexpr float kWorkers = 2;  // all of which see the same words here

Bytes floats(std::int64_t count) { return Bytes(count * static_cast<std::int64_t>(sizeof(float))); }

Result<Graph> build_graph(std::int64_t words) {
  GraphBuilder builder("gradient bucket");
  builder.add(Memory{.name = "host", .alignment = Bytes(64)});
  const auto add = [&](const char* name, std::int64_t count, TensorFlags flags = {}) {
    return builder.add(Tensor{.name = name, .size = floats(count), .dtype = "f32", .flags = flags});
  };
  const TensorId ids = add("words", words, {TensorFlag::input, TensorFlag::zero_copy});
  const TensorId w0 = add("embedding", kWords, TensorFlag::variable);
  const TensorId w1 = add("pairs", kPairs, TensorFlag::variable);
  const TensorId g0 = add("embedding.grad", kWords);
  const TensorId g1 = add("pairs.grad", kPairs);
  const TensorId r0 = add("embedding.reduced", kWords);
  const TensorId r1 = add("pairs.reduced", kPairs);
  // Every output must be 0 when its op starts; both are cleared together, before anything else.
  builder.add(Op{
      .name = "count words", .kind = "SCATTER_ADD", .inputs = {ids}, .outputs = {g0}, .zero_fill = {.outputs = {0}}});
  builder.add(Op{
      .name = "count pairs", .kind = "SCATTER_ADD", .inputs = {ids}, .outputs = {g1}, .zero_fill = {.outputs = {0}}});
  // Its inputs lie next to each other, at addresses that never change; each output is its input.
  builder.add(Op{.name = "reduce",
                 .kind = "ALL_REDUCE",
                 .inputs = {g0, g1},
                 .outputs = {r0, r1},
                 .aliases = {{0, 0, Bytes(0)}, {1, 1, Bytes(0)}},
                 .stream = StreamId(1),
                 .contiguous_inputs = Contiguity::padded,
                 .fixed_address = true});
  builder.add(Op{.name = "update embedding", .kind = "SGD", .inputs = {w0, r0}, .outputs = {w0}});
  builder.add(Op{.name = "update pairs", .kind = "SGD", .inputs = {w1, r1}, .outputs = {w1}});
  return builder.build();
}

std::span<float> values(const Graph& graph, TensorId tensor, std::byte* address) {
  return {reinterpret_cast<float*>(address),
          static_cast<std::size_t>(graph.tensor(tensor).size.value()) / sizeof(float)};
}

Status execute(const Graph& graph, const OpCall& call) {
  const Op& op = graph.op(call.op);
  const auto in = [&](std::size_t i) { return values(graph, *op.inputs[i], call.inputs[i]); };
  const std::span<float> out = values(graph, op.outputs[0], call.outputs[0]);
  if (op.kind == "SCATTER_ADD") {
    for (const float id : in(0)) out[static_cast<std::size_t>(id) % out.size()] += 1;
  } else if (op.kind == "ALL_REDUCE") {
    // One call for the whole bucket, from its first float to its last.
    float* const last = in(1).data() + in(1).size();
    std::for_each(in(0).data(), last, [](float& sum) { sum *= kWorkers; });
  } else {
    std::transform(in(0).begin(), in(0).end(), in(1).begin(), out.begin(),
                   [](float w, float g) { return w - 0.5F * g; });
  }
  return Done{};
}

int fail(const Error& error) {
  std::fprintf(stderr, "gradient_bucket: %s\n", to_string(error).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  alignas(64) float words[8] = {3, 14, 15, 92, 65, 35, 3, 3};
  alignas(64) float embedding[kWords] = {};
  alignas(64) float pairs[kPairs] = {};
  const Result<Graph> graph = build_graph(std::size(words));
  if (!graph) return fail(graph.error());
  if (argc > 1) {
    if (const Status written = write_file(argv[1], graph_to_json(*graph)); !written) return fail(written.error());
  }

  // 1. Addresses, and the program of a run
  GraphAllocator allocator(cpu_device().buffer_type());
  const Result<const Allocation*> allocation = allocator.allocate(*graph);
  if (!allocation) return fail(allocation.error());

  // 2. What lies in memory of our own
  const auto here = [](std::span<float> memory) {
    return CallerMemory{reinterpret_cast<std::byte*>(memory.data()),
                        Bytes(static_cast<std::int64_t>(memory.size_bytes())), cpu_device().id()};
  };
  const std::vector<BoundMemory> memories{
      {TensorId(0), here(words)}, {TensorId(1), here(embedding)}, {TensorId(2), here(pairs)}};
  if (const Status bound = allocator.bind(memories); !bound) return fail(bound.error());

  // 3. Three steps: clears, waits between the streams, and the ops
  const RunOps ops{.run = [&](const OpCall& call) { return execute(*graph, call); }};
  for (int step = 0; step < 3; ++step) {
    if (const Status done = run(*graph, **allocation, cpu_device(), ops); !done) return fail(done.error());
  }
  const bool right =
      embedding[3] == -9 && embedding[14] == -3 && embedding[4] == 0 && pairs[35] == -3 && pairs[32] == -3;
  std::printf("%zu clears for 2 gradients; the result is %s\n", (*allocation)->plan.clears.size(),
              right ? "right" : "wrong");
  return right ? 0 : 1;
}
