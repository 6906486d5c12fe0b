#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/scene.hpp"
#include "stowage/report/explain.hpp"

/// What people call the things that hold memory.
namespace stowage::report {

/// "layers/3/attn" of "layers/3/attn/q", "blk.0" of "blk.0.out", "*-3" of "ffn_gate-3"; empty where the name has no
/// such part.
[[nodiscard]] std::string scope_of(std::string_view name);

/// The name with each number between separators (or at an end) as *: "ffn_gate-*", "layers/*/attn", but "conv2d".
[[nodiscard]] std::string family_of(std::string_view name);

/// The tensor that an item of the scene is there for at a step: the largest that is needed then, of equals the one that
/// takes over; without a step of all. Nothing for a workspace, and for memory that only copies go to.
[[nodiscard]] std::optional<TensorId> tensor_at(const Scene& scene, const PlacedItem& item, std::optional<Step> step);

/// The kind of the op that wrote a tensor, or another of its class; "input" where the caller did. May be empty.
[[nodiscard]] std::string kind_of(const Scene& scene, TensorId id);

/// An item as a holder at a step, or at its largest. `bytes` is 0: whoever looks knows how much it is.
[[nodiscard]] Holder holder_of(const Scene& scene, const PlacedItem& item, std::optional<Step> step);

/// "'name'", or where it has none its number.
[[nodiscard]] std::string name_of(const Graph& graph, TensorId id);
[[nodiscard]] std::string name_of(const Graph& graph, OpId id);

/// By numbers as in its scope.
[[nodiscard]] TensorRef ref_of(const Graph& graph, TensorId id);
[[nodiscard]] WorkspaceNumber ref_of(const Graph& graph, WorkspaceId ref);

/// The op at a step; nothing where the timeline has a moment without one.
[[nodiscard]] std::optional<OpId> op_at(const Scene& scene, Step step);

}  // namespace stowage::report
