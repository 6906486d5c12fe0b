#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/explanation.hpp"
#include "report/scene.hpp"

/// Names for the things that hold memory.
namespace stowage::report {

/// "layers/3/attn" of "layers/3/attn/q", "blk.0" of "blk.0.out", "*-3" of "ffn_gate-3"; empty if the name has no such
/// part.
[[nodiscard]] std::string scope_of(std::string_view name);

/// The name with each number between separators (or at an end) as *: "ffn_gate-*", "layers/*/attn", but "conv2d".
[[nodiscard]] std::string family_of(std::string_view name);

/// The tensor that names an item at a step: the largest that is needed then; among equals, the one that takes over in
/// place. Without a step, the largest of all. None for a workspace, and for memory that is only a copy's destination.
[[nodiscard]] std::optional<TensorId> tensor_at(const Scene& scene, const PlacedItem& item, std::optional<Step> step);

/// The kind of the op that wrote a tensor, or another of its class; "input" if the caller wrote it. May be empty.
[[nodiscard]] std::string kind_of(const Scene& scene, TensorId id);

/// An item as a holder at a step, or at its largest. `bytes` is 0: the caller sets it.
[[nodiscard]] Holder holder_of(const Scene& scene, const PlacedItem& item, std::optional<Step> step);

/// The name, or "tensor N" or "op N" if it is empty.
[[nodiscard]] std::string name_of(const Graph& graph, TensorId id);
[[nodiscard]] std::string name_of(const Graph& graph, OpId id);

/// The number within the scope that it belongs to, as files count.
[[nodiscard]] std::size_t local_number(const Graph& graph, TensorId id);
[[nodiscard]] std::size_t local_number(const Graph& graph, OpId id);

/// The op at a step; none if no op runs at it.
[[nodiscard]] std::optional<OpId> op_at(const Scene& scene, Step step);

}  // namespace stowage::report
