// One pre-norm transformer block, described as an inference runtime would, then planned and shown.
//
//   transformer_block [FILE.json]     also writes the graph there, for `stowage plan FILE.json`

#include <string>
#include <utility>
#include <vector>

#include "show_plan.hpp"
#include "stowage/stowage.hpp"

namespace {

using namespace stowage;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kTokens = 32;    // in this batch
constexpr std::int64_t kContext = 128;  // rows of the key/value cache
constexpr std::int64_t kDim = 64;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kHidden = 192;

Bytes size_of(const Shape& shape) {
  std::int64_t size = sizeof(float);
  for (const std::int64_t extent : shape) size *= extent;
  return Bytes(size);
}

/// The few kinds of op that a transformer consists of. All tensors are f32.
class Block {
 public:
  Block() : builder_("transformer_block") { builder_.add(Memory{.name = "cpu", .alignment = Bytes(32)}); }

  TensorId tensor(std::string name, Shape shape, TensorFlags flags = {}) {
    return builder_.add(
        Tensor{.name = std::move(name), .size = size_of(shape), .dtype = "f32", .shape = shape, .flags = flags});
  }

  /// Part of `base`, or all of it in another shape: shares the bytes of its base; no work is done.
  TensorId view(const std::string& name, TensorId base, Shape shape, Bytes offset = {}) {
    const ViewOf place{.tensor = base, .offset = offset};
    const TensorId out =
        builder_.add(Tensor{.name = name, .size = size_of(shape), .dtype = "f32", .shape = shape, .view_of = place});
    builder_.add(Op{.name = name, .kind = "VIEW", .inputs = {base}, .outputs = {out}, .no_task = true});
    return out;
  }

  /// Needs a workspace while it runs.
  TensorId matmul(const std::string& name, TensorId a, TensorId b, Shape shape) {
    const TensorId out = tensor(name, std::move(shape));
    builder_.add(
        Op{.name = name, .kind = "MATMUL", .inputs = {a, b}, .outputs = {out}, .workspaces = {{.size = Bytes(4096)}}});
    return out;
  }
  TensorId linear(const std::string& name, TensorId x, std::int64_t from, std::int64_t to) {
    return matmul(name, tensor(name + ".weight", {to, from}, TensorFlag::constant), x, {kTokens, to});
  }

  /// The result may overwrite the first input if no later op reads that: the planner decides.
  TensorId in_place(const std::string& kind, const std::string& name, std::vector<TensorId> in, Shape shape,
                    TensorFlags flags = {}) {
    const TensorId out = tensor(name, std::move(shape), flags);
    builder_.add(
        Op{.name = name, .kind = kind, .inputs = {in.begin(), in.end()}, .outputs = {out}, .in_place = {{0, 0}}});
    return out;
  }
  TensorId norm(const std::string& name, TensorId x) {
    return in_place("RMS_NORM", name, {x, tensor(name + ".weight", {kDim}, TensorFlag::constant)}, {kTokens, kDim});
  }

  /// Writes this batch's rows at the end of the cache: a copy whose output is a view of it.
  void store(const std::string& name, TensorId rows, TensorId cache) {
    const TensorId slot = view(name + ".rows", cache, {kTokens, kDim}, size_of({kContext - kTokens, kDim}));
    builder_.add(Op{.name = name, .kind = "COPY", .inputs = {rows}, .outputs = {slot}});
  }

  Result<Graph> build() { return builder_.build(); }

 private:
  GraphBuilder builder_;
};

TensorId attention(Block& block, TensorId x) {
  const TensorId positions = block.tensor("positions", {kTokens}, TensorFlag::input);
  const TensorId mask = block.tensor("mask", {kTokens, kContext}, TensorFlag::input);
  const TensorId keys = block.tensor("k_cache", {kContext, kDim}, TensorFlag::variable);
  const TensorId values = block.tensor("v_cache", {kContext, kDim}, TensorFlag::variable);
  const Shape by_head = {kTokens, kHeads, kDim / kHeads};

  const TensorId normed = block.norm("attn_norm", x);
  const TensorId q = block.view("q_heads", block.linear("q", normed, kDim, kDim), by_head);
  const TensorId k = block.view("k_heads", block.linear("k", normed, kDim, kDim), by_head);
  const TensorId q_rope = block.in_place("ROPE", "q_rope", {q, positions}, by_head);
  block.store("store_k", block.in_place("ROPE", "k_rope", {k, positions}, by_head), keys);
  block.store("store_v", block.linear("v", normed, kDim, kDim), values);

  const TensorId scores = block.matmul("scores", keys, q_rope, {kHeads, kTokens, kContext});
  const TensorId softmax = block.in_place("SOFTMAX", "softmax", {scores, mask}, {kHeads, kTokens, kContext});
  const TensorId heads = block.matmul("heads", values, softmax, {kTokens, kDim});
  return block.in_place("ADD", "attn_residual", {block.linear("attn_out", heads, kDim, kDim), x}, {kTokens, kDim});
}

void feed_forward(Block& block, TensorId x) {
  const TensorId normed = block.norm("ffn_norm", x);
  const TensorId gate =
      block.in_place("SILU", "silu", {block.linear("gate", normed, kDim, kHidden)}, {kTokens, kHidden});
  const TensorId gated =
      block.in_place("MUL", "gated", {gate, block.linear("up", normed, kDim, kHidden)}, {kTokens, kHidden});
  block.in_place("ADD", "y", {block.linear("down", gated, kHidden, kDim), x}, {kTokens, kDim}, TensorFlag::output);
}

}  // namespace

int main(int argc, char** argv) {
  Block block;
  feed_forward(block, attention(block, block.tensor("x", {kTokens, kDim}, TensorFlag::input)));
  return examples::show_plan(block.build(), {"x", "k_cache", "q", "q_rope", "scores", "softmax", "y"},
                             argc > 1 ? argv[1] : "");
}
