#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"
#include "io/onnx/shape/product.hpp"

// The operators of ONNX Runtime (com.microsoft) that its tools put into models.
namespace stowage::io::onnx::shape {
namespace {

/// Operators that ONNX now has under the same name.
void as_onnx(Call& call) { find_operator("", call.node().kind)->infer(call); }

void fused_convolution(Call& call) { find_operator("", "Conv")->infer(call); }

/// Inputs: input, skip, weights. Outputs: the result, statistics (training only), the sum before normalization.
void skip_normalization(Call& call) {
  like_first(call);
  call.set(3, call.type(0), call.dims(0));
}

/// The second output is the sum before normalization.
void skip_group_norm(Call& call) {
  like_first(call);
  call.set(1, call.type(0), call.dims(0));
}

/// Inputs: data, bias, residual. Outputs: the result, which elements were kept.
void bias_dropout(Call& call) {
  like_first(call);
  call.set(1, ElementType::boolean, call.dims(0));
}

/// Ids [batch, steps], segments, embeddings [words, hidden].
void embed_layer_normalization(Call& call) {
  const Dims dims = {call.dim(0, 0), call.dim(0, 1), call.dim(2, 1)};
  call.set(0, call.type(2), dims);
  call.set(1, ElementType::int32, {call.dim(0, 0)});
  call.set(2, call.type(2), dims);
}

void bias_split_gelu(Call& call) {
  Dims dims = call.dims(0);
  if (dims.empty() || dims.back() % 2 != 0) stop(fmt::format("the last dim of {} cannot be halved", to_string(dims)));
  dims.back() /= 2;
  call.set(0, call.type(0), std::move(dims));
}

Dims turned(Dims dims, bool turn) {
  if (turn && dims.size() >= 2) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return dims;
}

void fused_mat_mul(Call& call) {
  const Node& node = call.node();
  if (node.integer("transBatchA", 0) != 0 || node.integer("transBatchB", 0) != 0) stop("it transposes batch dims");
  call.set(0, call.type(0),
           product_dims(turned(call.dims(0), node.integer("transA", 0) != 0),
                        turned(call.dims(1), node.integer("transB", 0) != 0)));
}

void dynamic_quantize_mat_mul(Call& call) { call.set(0, call.type(0), product_dims(call.dims(0), call.dims(1))); }

/// The result has the type of the scale of the first factor.
void mat_mul_integer_to_float(Call& call) { call.set(0, call.type(2), product_dims(call.dims(0), call.dims(1))); }

/// Weights are packed; attributes give their shape.
void mat_mul_packed(Call& call) {
  Dims dims = call.dims(0);
  const std::int64_t k = call.node().integer("K", -1);
  if (dims.empty() || dims.back() != k) stop(fmt::format("{} cannot be multiplied with {} rows", to_string(dims), k));
  dims.back() = call.node().integer("N", -1);
  call.set(0, call.type(0), std::move(dims));
}

void fused_gemm(Call& call) { call.set(0, call.type(0), gemm_dims(call, 0, 1)); }

/// Inputs: a with scale and zero point, b with scale and zero point, c, scale and zero point of the result. Without the
/// last two the result is not quantized.
void q_gemm(Call& call) { call.set(0, call.has(8) ? call.type(8) : ElementType::float32, gemm_dims(call, 0, 3)); }

/// Inputs: a with scale and zero point, b with scale and zero point, scale and zero point of the result.
void q_linear_binary(Call& call) { call.set(0, call.type(0), broadcast(call.dims(0), call.dims(3))); }

void q_linear_global_average_pool(Call& call) {
  Dims dims = call.dims(0);
  if (dims.size() < 2) stop(fmt::format("its input is {}", to_string(dims)));
  const std::size_t first = call.node().integer("channels_last", 0) != 0 ? 1 : 2;
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) dims[first + i] = 1;
  call.set(0, call.type(0), std::move(dims));
}

/// Inputs: scale and zero point of the result, then each tensor with its scale and zero point.
void q_linear_concat(Call& call) {
  Dims dims = call.dims(2);
  const std::size_t axis = normal_axis(call.node().integer("axis", 0), dims.size());
  for (std::size_t i = 5; i < call.input_count(); i += 3) {
    if (call.rank(i) != dims.size())
      stop(fmt::format("{} and {} cannot be joined", to_string(dims), to_string(call.dims(i))));
    dims[axis] = plus(dims[axis], call.dims(i)[axis]);
  }
  call.set(0, call.type(2), std::move(dims));
}

/// The width of the values of all heads: given by an attribute, or a third of queries, keys and values together.
std::int64_t value_width(const Call& call, std::size_t weights) {
  const std::vector<std::int64_t> sizes = call.list("qkv_hidden_sizes");
  return sizes.size() == 3 ? sizes[2] : call.dim(weights, 1) / 3;
}

std::int64_t split_into_heads(const Call& call, std::int64_t width) {
  const std::int64_t heads = call.node().integer("num_heads", 0);
  if (heads < 1 || width % heads != 0) stop(fmt::format("{} elements cannot be split into {} heads", width, heads));
  return width / heads;
}

/// The dims with `more` steps along `axis`.
Dims grown(Dims dims, std::size_t axis, std::int64_t more) {
  if (axis >= dims.size()) stop(fmt::format("its past is {}", to_string(dims)));
  dims[axis] = plus(dims[axis], more);
  return dims;
}

/// Output 1 is the state for later steps: keys and values [2, batch, heads, steps, size], appended to the past ones, or
/// written into their buffer.
void set_attention(Call& call, ElementType type, std::size_t past) {
  const std::int64_t width = value_width(call, 1);
  call.set(0, type, {call.dim(0, 0), call.dim(0, 1), width});
  if (call.output_count() < 2) return;
  if (call.has(past)) {
    const bool buffer = call.node().integer("past_present_share_buffer", 0) != 0;
    return call.set(1, call.type(past), grown(call.dims(past), 3, buffer ? 0 : call.dim(0, 1)));
  }
  const std::int64_t size = split_into_heads(call, width);
  call.set(1, type, {2, call.dim(0, 0), width / size, call.dim(0, 1), size});
}

void contrib_attention(Call& call) { set_attention(call, call.type(0), 4); }

/// The result has the type of the input's scale.
void q_attention(Call& call) { set_attention(call, call.type(3), 8); }

/// Shapes: [batch, steps, width], separate heads [batch, heads, steps, size], or packed [batch, steps, heads, 2 or 3,
/// size].
std::int64_t width_of(const Call& call, std::size_t input) {
  const Dims& dims = call.dims(input);
  if (dims.size() == 3) return dims[2];
  if (dims.size() == 4) return times(dims[1], dims[3]);
  if (dims.size() == 5) return times(dims[2], dims[4]);
  stop(fmt::format("its input '{}' is {}", call.node().inputs[input], to_string(dims)));
}

/// Output 3 is how much each step attends to which: [batch, heads, steps, all steps].
void set_scores(Call& call, std::int64_t steps) {
  call.set(3, call.type(0), {call.dim(0, 0), call.node().integer("num_heads", 0), call.dim(0, 1), steps});
}

/// One step of a decoder. Keys and values are [batch, steps, width], or [batch, heads, steps, size] for those of an
/// encoder; without them, the queries are packed with both. Outputs 1 and 2 are the past keys and values (inputs 5
/// and 6) with one step more, or in the same buffer.
void decoder_attention(Call& call) {
  const bool packed = !call.has(1) && !call.has(2);
  const std::int64_t width = packed ? call.dim(0, 2) / 3 : width_of(call, call.has(2) ? 2 : 1);
  call.set(0, call.type(0), {call.dim(0, 0), call.dim(0, 1), width});
  const std::int64_t more = call.node().integer("past_present_share_buffer", 0) != 0 ? 0 : call.dim(0, 1);
  if (call.has(5)) {
    set_scores(call, plus(call.dim(5, 2), more));
    call.set(1, call.type(5), grown(call.dims(5), 2, more));
    return call.set(2, call.type(6), grown(call.dims(6), 2, more));
  }
  if (call.has(1)) set_scores(call, call.dim(1, call.rank(1) == 4 ? 2 : 1));
}

/// Values may be missing: packed with the keys, or with queries and keys. Outputs 1 and 2 are keys and values for later
/// steps, [batch, heads, steps, size], appended to the past ones (inputs 6 and 7), or written into their buffers if
/// input 8 says how many there are.
void multi_head_attention(Call& call) {
  const std::size_t keys = call.has(1) ? 1 : 0;
  const std::size_t values = call.has(2) ? 2 : keys;
  const std::int64_t width = width_of(call, values);
  call.set(0, call.type(0), {call.dim(0, 0), call.dim(0, 1), width});
  if (call.output_count() < 2) return;
  const std::int64_t new_steps = call.dim(keys, call.rank(keys) == 4 ? 2 : 1);
  set_scores(call, call.has(6) ? plus(call.dim(6, 2), call.has(8) ? 0 : new_steps) : new_steps);
  if (call.has(6)) {
    const std::int64_t more = call.has(8) ? 0 : new_steps;
    call.set(1, call.type(6), grown(call.dims(6), 2, more));
    return call.set(2, call.type(7), grown(call.dims(7), 2, more));
  }
  const std::int64_t key_size = split_into_heads(call, width_of(call, keys));
  const std::int64_t value_size = split_into_heads(call, width);
  const std::int64_t heads = call.node().integer("num_heads", 0);
  call.set(1, call.type(0), {call.dim(0, 0), heads, new_steps, key_size});
  call.set(2, call.type(0), {call.dim(0, 0), heads, new_steps, value_size});
}

/// Queries [batch, steps, heads * size]; without keys, [batch, steps, (heads + 2 * key heads) * size].
void group_query_attention(Call& call) {
  const std::int64_t heads = call.node().integer("num_heads", 0);
  const std::int64_t key_heads = call.node().integer("kv_num_heads", 0);
  if (heads < 1 || key_heads < 1) stop("it does not say how many heads it has");
  const std::int64_t packed = call.has(1) ? heads : plus(heads, times(2, key_heads));
  if (call.dim(0, 2) % packed != 0)
    stop(fmt::format("{} elements cannot be split into {} heads", call.dim(0, 2), packed));
  const std::int64_t size = call.dim(0, 2) / packed;
  call.set(0, call.type(0), {call.dim(0, 0), call.dim(0, 1), times(heads, size)});
  if (call.output_count() < 2) return;
  // Keys and values of all steps: as many as the larger of the past and the total.
  const std::int64_t past = call.has(3) ? call.dim(3, 2) : 0;
  const std::int64_t steps = std::max(past, call.integer(6));
  const ElementType type = call.has(3) ? call.type(3) : call.type(0);
  for (const std::size_t output : {std::size_t{1}, std::size_t{2}})
    call.set(output, type, {call.dim(0, 0), key_heads, steps, size});
}

constexpr Operator kContribOperators[] = {
    {"Attention", contrib_attention},
    {"BiasAdd", like_first},
    {"BiasDropout", bias_dropout},
    {"BiasGelu", like_first},
    {"BiasSplitGelu", bias_split_gelu},
    {"DecoderMaskedMultiHeadAttention", decoder_attention},
    {"DequantizeLinear", as_onnx},
    {"DynamicQuantizeMatMul", dynamic_quantize_mat_mul},
    {"EmbedLayerNormalization", embed_layer_normalization},
    {"FastGelu", like_first},
    {"FusedConv", fused_convolution},
    {"FusedGemm", fused_gemm},
    {"FusedMatMul", fused_mat_mul},
    {"FusedMatMulActivation", fused_mat_mul},
    {"Gelu", like_first},
    {"GroupNorm", like_first},
    {"GroupQueryAttention", group_query_attention},
    {"Inverse", like_first},
    {"MatMulBnb4", mat_mul_packed},
    {"MatMulIntegerToFloat", mat_mul_integer_to_float},
    {"MatMulNBits", mat_mul_packed},
    {"MoE", like_first},
    {"MultiHeadAttention", multi_head_attention},
    {"QAttention", q_attention},
    {"QGemm", q_gemm},
    {"QLinearAdd", q_linear_binary},
    {"QLinearConcat", q_linear_concat},
    {"QLinearGlobalAveragePool", q_linear_global_average_pool},
    {"QLinearLeakyRelu", like_first},
    {"QLinearMul", q_linear_binary},
    {"QLinearSigmoid", like_first},
    {"QLinearSoftmax", like_first},
    {"QMoE", like_first},
    {"QuantizeLinear", as_onnx},
    {"QuickGelu", like_first},
    {"RotaryEmbedding", like_first},
    {"SkipGroupNorm", skip_group_norm},
    {"SkipLayerNormalization", skip_normalization},
    {"SkipSimplifiedLayerNormalization", skip_normalization},
    {"Trilu", like_first},
};

}  // namespace

std::span<const Operator> contrib_operators() { return kContribOperators; }

}  // namespace stowage::io::onnx::shape
