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

/// What can be said about a value before anything runs.
struct ValueFacts {
  ValueKind kind = ValueKind::tensor;
  ElementType type = ElementType::undefined;  ///< Undefined: unknown.
  std::optional<Dims> dims = {};              ///< Absent: at least one of them is unknown. Each >= 0.
  std::optional<Elements> elements = {};      ///< Those of a small constant, or of what was folded out of some.
  std::string stopped_by =
      {};  ///< Where `type` or `dims` are unknown: the node or graph input that they were lost at, described.
  std::string reason = {};  ///< And why: "the dim 'batch' has no value", "the output of NonZero depends on data".

  [[nodiscard]] bool is_known() const { return type != ElementType::undefined && dims.has_value(); }
};

/// Facts by value name: of everything that one graph defines (inputs, initializers, outputs of nodes), not what it sees
/// of the graphs around it.
using GraphFacts = std::unordered_map<std::string, ValueFacts>;

/// Facts of a model's graph and of every body in it, each under its address in that model.
using ModelFacts = std::unordered_map<const Graph*, GraphFacts>;

/// Finds out types and shapes. `model` has no functions any more: their nodes stand where they were called. `dims` are
/// the values of symbolic dimensions.
///
/// Every non-empty name that a graph defines gets facts, known or with the reason why not: an unknown size is not an
/// error here. What the file says about a value (value_info, inputs, outputs) counts; the rest is inferred. Nothing is
/// guessed: a node whose inputs do not go together, or one that the standard and runtimes understand differently, is a
/// reason. Of an If whose condition is known, the branch that is taken says what it makes; what a Loop or Scan carries
/// is known when it keeps its shape.
///
/// Time is proportional to the nodes (bodies of loops count up to 64 times), and so is memory, whatever sizes a file
/// claims.
///
/// Fails with `ErrorCode::invalid`, naming the value, where file and inference contradict each other, or when a value
/// in `dims` is negative; with `ErrorCode::unknown_name` for a name in `dims` that no shape has.
Result<ModelFacts> infer(const Model& model, const std::map<std::string, std::int64_t>& dims, const std::string& file);

}  // namespace stowage::io::onnx
