// How to use a graph allocator: create it, reserve for the worst case, allocate a concrete graph, execute, free.
//
// A perceptron with two layers, y = W2 · relu(W1 · x), over a batch of vectors.

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "stowage/stowage.hpp"

namespace {

using namespace stowage;

constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kHidden = 256;

Bytes floats(std::int64_t count) { return Bytes(count * static_cast<std::int64_t>(sizeof(float))); }

Result<Graph> build_graph(std::int64_t batch) {
  GraphBuilder builder("perceptron");
  const auto add = [&](const char* name, std::int64_t count, TensorFlags flags = {}) {
    return builder.add(Tensor{.name = name, .size = floats(count), .dtype = "f32", .flags = flags});
  };
  const TensorId w1 = add("w1", kHidden * kWidth, TensorFlag::constant);
  const TensorId w2 = add("w2", kWidth * kHidden, TensorFlag::constant);
  const TensorId x = add("x", batch * kWidth, TensorFlag::input);
  const TensorId sums = add("sums", batch * kHidden);
  const TensorId hidden = add("hidden", batch * kHidden);
  const TensorId y = add("y", batch * kWidth, TensorFlag::output);
  builder.add(Op{.name = "first", .kind = "MATMUL", .inputs = {w1, x}, .outputs = {sums}});
  builder.add(Op{.name = "relu", .kind = "RELU", .inputs = {sums}, .outputs = {hidden}, .in_place = {{0, 0}}});
  builder.add(Op{.name = "second", .kind = "MATMUL", .inputs = {w2, hidden}, .outputs = {y}});
  return builder.build();
}

/// The floats of each tensor, by tensor id.
using Values = std::vector<std::span<float>>;

Values values_at(const Graph& graph, std::span<const Address> computed, std::span<const Address> weights) {
  Values values;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const Address& address = computed[t].buffer != nullptr ? computed[t] : weights[t];
    const auto count = static_cast<std::size_t>(graph.tensors()[t].size.value()) / sizeof(float);
    values.emplace_back(reinterpret_cast<float*>(address.data()), count);
  }
  return values;
}

/// out = matrix · in, for each vector of the batch.
void multiply(std::span<const float> matrix, std::span<const float> in, std::span<float> out, std::size_t width) {
  const std::size_t rows = matrix.size() / width;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::span<const float> row = matrix.subspan(i % rows * width, width);
    const std::span<const float> vector = in.subspan(i / rows * width, width);
    out[i] = 0;
    for (std::size_t k = 0; k < width; ++k) out[i] += row[k] * vector[k];
  }
}

void execute(const Graph& graph, const Values& values) {
  for (const Op& op : graph.ops()) {
    const std::span<float> out = values[op.outputs[0].index()];
    const std::span<const float> in = values[op.inputs.back()->index()];
    if (op.kind == "RELU") {
      std::transform(in.begin(), in.end(), out.begin(), [](float value) { return std::max(value, 0.0F); });
    } else {
      multiply(values[op.inputs[0]->index()], in, out, op.name == "first" ? kWidth : kHidden);
    }
  }
}

int fail(const Error& error) {
  std::fprintf(stderr, "quick_start: %s\n", to_string(error).c_str());
  return 1;
}

/// Fills in weights and inputs for which every y must be 1024, and checks that.
bool run(const Graph& graph, const Values& values) {
  for (std::size_t t = 0; t < 3; ++t) std::fill(values[t].begin(), values[t].end(), t == 1 ? 0.0625F : 1.0F);
  execute(graph, values);
  const std::span<const float> y = values.back();
  return std::all_of(y.begin(), y.end(), [](float value) { return value == 0.0625F * kWidth * kHidden; });
}

}  // namespace

int main() {
  // README.md shows the code between the two markers; a test compares them.
  // README begin
  // 1. A graph allocator for the CPU
  GraphAllocator allocator(cpu_device().buffer_type());

  // 2. (Optional) Reserve for the worst case, so that no graph below it ever causes a reallocation
  const Result<Graph> worst = build_graph(512);
  if (!worst) return fail(worst.error());
  if (const Status reserved = allocator.reserve(*worst); !reserved) return fail(reserved.error());

  // 3. Addresses for a concrete graph: no planning, no allocation. The weights have their own buffer
  const Result<Graph> graph = build_graph(32);
  if (!graph) return fail(graph.error());
  const Result<const Allocation*> allocation = allocator.allocate(*graph);
  if (!allocation) return fail(allocation.error());
  const Result<AllocatedTensors> weights = allocate_all(graph->tensors(), cpu_device(), {.only = TensorFlag::constant});
  if (!weights) return fail(weights.error());

  std::printf("compute buffer: %lld bytes\n", static_cast<long long>(allocator.buffer_size(0).value()));

  // 4. Execute
  const bool right = run(*graph, values_at(*graph, (*allocation)->tensors, weights->tensors));
  // README end. Everything is freed when it goes out of scope.
  std::printf("weights: %lld bytes; plans made: %llu; the result is %s\n",
              static_cast<long long>(weights->size().value()),
              static_cast<unsigned long long>(allocator.counters().plans), right ? "right" : "wrong");
  return right ? 0 : 1;
}
