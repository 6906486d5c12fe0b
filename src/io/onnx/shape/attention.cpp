#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// ONNX's own operators of attention (version 23 and later), and those that take its place.
namespace stowage::io::onnx::shape {
namespace {

/// Queries, keys or values: [batch, heads, steps, size] or [batch, steps, heads * size].
struct Heads {
  std::int64_t batch;
  std::int64_t heads;
  std::int64_t steps;
  std::int64_t size;
};

Heads heads_of(const Call& call, std::size_t input, std::string_view attribute) {
  const Dims& dims = call.dims(input);
  if (dims.size() == 4) return {dims[0], dims[1], dims[2], dims[3]};
  if (dims.size() != 3) stop(fmt::format("its input '{}' is {}", call.node().inputs[input], to_string(dims)));
  const std::int64_t heads = call.node().integer(attribute, 0);
  if (heads < 1 || dims[2] % heads != 0) stop(fmt::format("{} elements cannot be split into {} heads", dims[2], heads));
  return {dims[0], heads, dims[1], dims[2] / heads};
}

/// Inputs: Q, K, V, a mask, past keys, past values. Outputs: the result, all keys, all values, the products of Q and K.
void attention(Call& call) {
  const Heads q = heads_of(call, 0, "q_num_heads");
  const Heads k = heads_of(call, 1, "kv_num_heads");
  const Heads v = heads_of(call, 2, "kv_num_heads");
  if (call.rank(0) == 3) {
    call.set(0, call.type(0), {q.batch, q.steps, times(q.heads, v.size)});
  } else {
    call.set(0, call.type(0), {q.batch, q.heads, q.steps, v.size});
  }
  const std::int64_t past = call.has(4) ? call.dim(4, 2) : 0;
  const std::int64_t steps = plus(past, k.steps);
  if (call.output_count() > 1) call.set(1, call.type(1), {k.batch, k.heads, steps, k.size});
  if (call.output_count() > 2) call.set(2, call.type(2), {v.batch, v.heads, steps, v.size});
  call.set(3, call.type(0), {q.batch, q.heads, q.steps, steps});
}

/// Inputs: Q, K, V, each [batch, heads, steps, size]. Its bodies change scores and keep their shape.
void flex_attention(Call& call) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (call.rank(i) != 4) stop(fmt::format("its input '{}' is {}", call.node().inputs[i], to_string(call.dims(i))));
  }
  call.set(0, call.type(0), {call.dim(0, 0), call.dim(0, 1), call.dim(0, 2), call.dim(2, 3)});
}

/// Inputs: Q, K, V, each [batch, steps, heads * size], the past state. Outputs: the result, the state [batch, key
/// heads, size of keys, size of values].
void linear_attention(Call& call) {
  const Heads q = heads_of(call, 0, "q_num_heads");
  const Heads k = heads_of(call, 1, "kv_num_heads");
  const Heads v = heads_of(call, 2, "kv_num_heads");
  call.set(0, call.type(0), {q.batch, q.steps, times(q.heads, v.size)});
  call.set(1, call.has(3) ? call.type(3) : call.type(0), {q.batch, k.heads, k.size, v.size});
}

/// Inputs: [batch, channels, length], weights [channels, 1, size]. The state holds the last elements that later ones
/// still need.
void causal_convolution(Call& call) {
  if (call.rank(0) != 3) stop(fmt::format("its input is {}", to_string(call.dims(0))));
  like_first(call);
  call.set(1, call.type(0), {call.dim(0, 0), call.dim(0, 1), minus(call.dim(1, 2), 1)});
}

constexpr Operator kAttentionOperators[] = {
    {"Attention", attention},
    {"CausalConvWithState", causal_convolution},
    {"LinearAttention", linear_attention},
    {"RotaryEmbedding", like_first},
};

constexpr Operator kPreviewOperators[] = {{"FlexAttention", flex_attention}};

}  // namespace

std::span<const Operator> attention_operators() { return kAttentionOperators; }

std::span<const Operator> preview_operators() { return kPreviewOperators; }

}  // namespace stowage::io::onnx::shape
