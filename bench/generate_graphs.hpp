#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/graph.hpp"

/// Graphs that need no data beside the project. The same arguments always give the same result.
namespace stowage::bench {

/// How many streams a generated graph uses: with two, what may run beside the main path does.
enum class Streams : std::uint8_t { one, two };

/// One pass of a language model over a batch of tokens: per layer some thirty ops, a third of them views; caches that
/// are written through views; ops that work in place; workspaces. Everything but the residual is short-lived. Two
/// streams: keys and values beside the queries, `up` beside `gate`.
[[nodiscard]] Graph make_llm(std::size_t ops, Streams streams);

/// One training step of a deep network: activations live from the forward to the backward pass, gradients of the
/// weights until the optimiser at the end. Most lives overlap. Two streams: gradients of the weights, and their
/// exchange, beside the backward pass.
[[nodiscard]] Graph make_training(std::size_t ops, Streams streams);

/// One denoising step of a UNet: on the way down every block's result is kept until its mirror image on the way up,
/// which reads it beside its own input. Four levels, each with half the bytes of the one above. Many lives are nested,
/// the longest the largest. Precondition: at least 100 ops.
[[nodiscard]] Graph make_unet(std::size_t ops);

}  // namespace stowage::bench
