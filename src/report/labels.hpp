#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/explanation.hpp"
#include "report/scene.hpp"

/// Names for the things that hold memory. A holder has one name, whatever the step: everything that shows it, in a text
/// or in a picture, takes the name from here.
namespace stowage::report {

/// "layers/3/attn" of "layers/3/attn/q", "blk.0" of "blk.0.out", "*-3" of "ffn_gate-3"; empty if the name has no such
/// part.
[[nodiscard]] std::string scope_of(std::string_view name);

/// The name with each number between separators (or at an end) as *: "ffn_gate-*", "layers/*/attn", but "conv2d".
[[nodiscard]] std::string family_of(std::string_view name);

/// The layer of an op: the one that it states, else the scope within its name. May be empty, as may the next.
[[nodiscard]] std::string layer_of(const Op& op);
/// The layer of a tensor: the one that the op that writes it states, else the scope within the tensor's name.
[[nodiscard]] std::string layer_of(const Graph& graph, TensorId id, std::optional<OpId> producer);

/// The tensor that an item is named after: the largest in it; among equals, the one that is needed first, which is not
/// the one that takes over in place. None for a workspace, and for memory that is only a copy's destination.
[[nodiscard]] std::optional<TensorId> naming_tensor(const Scene& scene, const PlacedItem& item);

/// The kind of the op that wrote a tensor, or another of its class; "input" if the caller wrote it. May be empty.
[[nodiscard]] std::string kind_of(const Scene& scene, TensorId id);

/// An item as a holder. `bytes` is 0: the caller sets it.
[[nodiscard]] Holder holder_of(const Scene& scene, const PlacedItem& item);

/// The name, or "tensor N" or "op N" if it is empty.
[[nodiscard]] std::string name_of(const Graph& graph, TensorId id);
[[nodiscard]] std::string name_of(const Graph& graph, OpId id);

/// The number within the scope that it belongs to, as files count.
[[nodiscard]] std::size_t local_number(const Graph& graph, TensorId id);
[[nodiscard]] std::size_t local_number(const Graph& graph, OpId id);

/// The op at a step; none if no op runs at it.
[[nodiscard]] std::optional<OpId> op_at(const Scene& scene, Step step);

}  // namespace stowage::report
