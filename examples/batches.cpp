// Inference in two sizes of batch, planned once: each run chooses a batch, and reads and writes the caller's buffers
// without a copy.

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "stowage/stowage.hpp"

namespace {

using namespace stowage;

constexpr std::int64_t kWidth = 16;  // floats per sample
constexpr std::int64_t kMost = 8;    // samples

Bytes floats(std::int64_t count) { return Bytes(count * static_cast<std::int64_t>(sizeof(float))); }

/// One chain of ops for each batch. They never run together, so that they share memory; the last op serves both.
Result<Graph> build_graph() {
  GraphBuilder builder("batches");
  builder.add(Memory{.name = "host", .alignment = Bytes(64)});
  const TensorId x = builder.add(
      Tensor{.name = "x", .size = floats(kMost * kWidth), .flags = {TensorFlag::input, TensorFlag::zero_copy}});
  const TensorId y = builder.add(
      Tensor{.name = "y", .size = floats(kMost * kWidth), .flags = {TensorFlag::output, TensorFlag::zero_copy}});
  std::vector<std::optional<TensorId>> results;
  for (const std::int64_t batch : {std::int64_t{1}, kMost}) {
    const std::string label = std::to_string(batch);
    const TensorId wide = builder.add(Tensor{.name = "wide." + label, .size = floats(4 * batch * kWidth)});
    const TensorId narrow = builder.add(Tensor{.name = "narrow." + label, .size = floats(batch * kWidth)});
    builder.add(Op{.name = "widen." + label, .kind = "WIDEN", .inputs = {x}, .outputs = {wide}, .batch = label});
    builder.add(Op{.name = "sum." + label, .kind = "SUM", .inputs = {wide}, .outputs = {narrow}, .batch = label});
    results.push_back(narrow);
  }
  builder.add(Op{.name = "store", .kind = "MERGE", .inputs = results, .outputs = {y}});
  return builder.build();
}

/// Widen repeats each sample four times, sum adds the four: y = 4 x.
void execute(const Graph& graph, const OpCall& call, std::size_t samples) {
  const Op& op = graph.op(call.op);
  const std::size_t count = samples * kWidth;
  const std::size_t from = op.kind == "MERGE" && samples == kMost ? 1 : 0;
  const auto* const in = reinterpret_cast<const float*>(call.inputs[from]);
  auto* const out = reinterpret_cast<float*>(call.outputs[0]);
  for (std::size_t i = 0; i < (op.kind == "WIDEN" ? 4 * count : count); ++i) {
    if (op.kind == "SUM") {
      out[i] = in[i] + in[count + i] + in[2 * count + i] + in[3 * count + i];
    } else {
      out[i] = in[i % count];
    }
  }
}

int fail(const Error& error) {
  std::fprintf(stderr, "batches: %s\n", to_string(error).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Result<Graph> graph = build_graph();
  if (!graph) return fail(graph.error());
  if (argc > 1) {
    if (const Status written = write_file(argv[1], graph_to_json(*graph)); !written) return fail(written.error());
  }
  GraphAllocator allocator(cpu_device().buffer_type());
  const Result<const Allocation*> allocation = allocator.allocate(*graph);
  if (!allocation) return fail(allocation.error());

  // Two requests, each with buffers of its own: the next run uses them where they are.
  struct Request {
    std::size_t samples;
    alignas(64) float x[kMost * kWidth];
    alignas(64) float y[kMost * kWidth];
  };
  static Request requests[] = {{1, {}, {}}, {kMost, {}, {}}};
  bool right = true;
  for (Request& request : requests) {
    std::fill(std::begin(request.x), std::end(request.x), 10.0F * static_cast<float>(request.samples));
    const auto here = [](std::span<float> memory) {
      return CallerMemory{reinterpret_cast<std::byte*>(memory.data()), floats(kMost * kWidth), cpu_device().id()};
    };
    const std::vector<BoundMemory> memories{{TensorId(0), here(request.x)}, {TensorId(1), here(request.y)}};
    if (const Status bound = allocator.bind(memories); !bound) return fail(bound.error());

    const RunOps ops{.run = [&](const OpCall& call) -> Status {
      execute(*graph, call, request.samples);
      return Done{};
    }};
    const RunOptions options{.batch = std::to_string(request.samples)};
    if (const Status done = run(*graph, **allocation, cpu_device(), ops, options); !done) return fail(done.error());
    float* const end = request.y + request.samples * kWidth;
    right = right && std::all_of(request.y, end, [&](float y) { return y == 4 * request.x[0]; });
  }
  std::printf("%lld bytes for both batches; the results are %s\n",
              static_cast<long long>(allocator.buffer_size(0).value()), right ? "right" : "wrong");
  return right ? 0 : 1;
}
