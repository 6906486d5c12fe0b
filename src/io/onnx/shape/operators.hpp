#pragma once

#include <span>
#include <string_view>

#include "io/onnx/shape/call.hpp"

/// The rules of operators: a table from kinds to rules, with one file per family of operators.
namespace stowage::io::onnx::shape {

using Rule = void (*)(Call&);

/// An operator of any version: its rule looks at `Call::version` where versions differ.
struct Operator {
  std::string_view kind;
  /// Sets type and dims of every output, or throws `Stop`.
  Rule infer;
  /// Sets elements of outputs. Called after `infer` if all elements of all inputs are known and the outputs have few.
  /// If it throws `Stop`, the elements remain unknown.
  Rule fold = nullptr;
};

/// Null if the operator is not known.
[[nodiscard]] const Operator* find_operator(std::string_view domain, std::string_view kind);

[[nodiscard]] std::span<const Operator> elementwise_operators();
[[nodiscard]] std::span<const Operator> broadcast_operators();
[[nodiscard]] std::span<const Operator> reduction_operators();
[[nodiscard]] std::span<const Operator> view_operators();
[[nodiscard]] std::span<const Operator> slice_operators();
[[nodiscard]] std::span<const Operator> gather_operators();
[[nodiscard]] std::span<const Operator> generator_operators();
[[nodiscard]] std::span<const Operator> product_operators();
[[nodiscard]] std::span<const Operator> convolution_operators();
[[nodiscard]] std::span<const Operator> pool_operators();
[[nodiscard]] std::span<const Operator> image_operators();
[[nodiscard]] std::span<const Operator> normalization_operators();
[[nodiscard]] std::span<const Operator> attention_operators();
[[nodiscard]] std::span<const Operator> quantization_operators();
[[nodiscard]] std::span<const Operator> recurrent_operators();
[[nodiscard]] std::span<const Operator> signal_operators();
[[nodiscard]] std::span<const Operator> string_operators();
[[nodiscard]] std::span<const Operator> dynamic_operators();
[[nodiscard]] std::span<const Operator> control_operators();
/// The operators of the domain ai.onnx.ml.
[[nodiscard]] std::span<const Operator> learned_operators();
/// The operators of the domain ai.onnx.preview.
[[nodiscard]] std::span<const Operator> preview_operators();
/// The operators of the domain ai.onnx.preview.training.
[[nodiscard]] std::span<const Operator> training_operators();
/// The operators of ONNX Runtime, in the domain com.microsoft; those of whole loops that generate text, and of batches
/// without padding; those of training.
[[nodiscard]] std::span<const Operator> contrib_operators();
[[nodiscard]] std::span<const Operator> generation_operators();
[[nodiscard]] std::span<const Operator> contrib_training_operators();

// Rules that several families have in common.

/// Output 0 is like input 0.
void like_first(Call& call);
/// Output 0 has the type of input 0 and the shape to which all inputs are broadcast.
void broadcast_all(Call& call);
/// Output 0 has the elements of input 0, in whatever shape.
void keep_elements(Call& call);

}  // namespace stowage::io::onnx::shape
