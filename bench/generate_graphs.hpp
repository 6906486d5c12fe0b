#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/graph.hpp"

/// Graphs that need no data files. The same arguments always give the same result.
namespace stowage::bench {

/// How many streams a generated graph uses. With two, work that can run in parallel to the main path does.
enum class Streams : std::uint8_t { one, two };

/// One pass of a language model over a batch of tokens. Each layer has about thirty ops, a third of them views; caches
/// that are written through views; ops that work in place; workspaces. Everything except the residual is short-lived.
/// With two streams, keys and values run in parallel to the queries, and `up` in parallel to `gate`.
[[nodiscard]] Graph make_llm(std::size_t ops, Streams streams);

/// One training step of a deep network: activations live from the forward to the backward pass, gradients of the
/// weights until the optimiser at the end. Most lives overlap. With two streams, gradients of the weights and their
/// exchange run in parallel to the backward pass.
[[nodiscard]] Graph make_training(std::size_t ops, Streams streams);

/// One denoising step of a UNet: on the way down, every block's result is kept until the corresponding block on the way
/// up, which reads it together with its own input. Four levels, each with half the bytes of the one above. Many lives
/// are nested; the longest are the largest. Precondition: at least 100 ops.
[[nodiscard]] Graph make_unet(std::size_t ops);

}  // namespace stowage::bench
