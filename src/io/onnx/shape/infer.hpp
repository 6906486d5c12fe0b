#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/onnx/model.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// What is known about a value before anything runs.
struct ValueFacts {
  ValueKind kind = ValueKind::tensor;
  ElementType type = ElementType::undefined;  ///< Undefined: unknown.
  std::optional<Dims> dims = {};              ///< Absent: at least one of them is unknown. Each >= 0.
  std::optional<Elements> elements = {};      ///< Of a small constant, or of a value computed from constants.
  /// If `type` or `dims` are unknown: the node or graph input at which inference stopped, as described in messages.
  std::string stopped_by = {};
  std::string reason = {};  ///< And why: "the dim 'batch' has no value", "the output of NonZero depends on data".

  [[nodiscard]] bool is_known() const { return type != ElementType::undefined && dims.has_value(); }
};

/// Facts by value name, for everything that one graph defines (inputs, initializers, outputs of nodes), without values
/// of enclosing graphs.
using GraphFacts = std::unordered_map<std::string, ValueFacts>;

/// Facts of a model's graph and of every body in it, each under its address in that model.
using ModelFacts = std::unordered_map<const Graph*, GraphFacts>;

/// Infers types and shapes. Precondition: functions in `model` are inlined. `dims` are the values of symbolic
/// dimensions.
///
/// Every non-empty name that a graph defines gets facts, or the reason why they are unknown: an unknown size is not an
/// error here. What the file states about a value (value_info, inputs, outputs) is used; the rest is inferred. Nothing
/// is guessed: incompatible inputs of a node, or an operator that the standard and runtimes interpret differently, are
/// reasons. If the condition of an If is known, its outputs are those of the selected branch; a value carried by a Loop
/// or Scan is known if it keeps its shape.
///
/// Time is proportional to the nodes (bodies of loops count up to 64 times), and so is memory, whatever sizes a file
/// claims.
/// Fails with `ErrorCode::invalid`, naming the value, if file and inference contradict each other, or if a value in
/// `dims` is negative; with `ErrorCode::unknown_name` for a name in `dims` that no shape has.
/// With a contradiction, `agreeing` (or null) gets the values of symbolic dims that would avoid it, if there are such.
Result<ModelFacts> infer(const Model& model, const std::map<std::string, std::int64_t>& dims, const std::string& file,
                         std::map<std::string, std::int64_t>* agreeing = nullptr);

}  // namespace stowage::io::onnx
