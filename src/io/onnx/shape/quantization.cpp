#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators that change the type of elements.
namespace stowage::io::onnx::shape {
namespace {

void cast(Call& call) {
  const ElementType to = call.type_attribute("to", ElementType::undefined);
  if (to == ElementType::undefined) stop("it has no target type");
  call.set(0, to, call.dims(0));
}

void cast_like(Call& call) { call.set(0, call.type(1), call.dims(0)); }

void fold_cast(Call& call) { call.set_elements(0, converted(*call.elements(0), call.output(0).type)); }

void bit_cast(Call& call) {
  const ElementType to = call.type_attribute("to", ElementType::undefined);
  if (element_bits(to) == 0 || element_bits(to) != element_bits(call.type(0)))
    stop(fmt::format("{} and {} have different numbers of bits", to_string(call.type(0)), to_string(to)));
  call.set(0, to, call.dims(0));
}

/// The result has the type of the zero point; without one, that of the attribute (version 21).
void quantize_linear(Call& call) {
  const ElementType named = call.type_attribute("output_dtype", ElementType::uint8);
  call.set(0, call.has(2) ? call.type(2) : named, call.dims(0));
}

/// The result has the type of the scale, unless the attribute (version 23) gives another.
void dequantize_linear(Call& call) { call.set(0, call.type_attribute("output_dtype", call.type(1)), call.dims(0)); }

void dynamic_quantize_linear(Call& call) {
  call.set(0, ElementType::uint8, call.dims(0));
  call.set(1, ElementType::float32, {});
  call.set(2, ElementType::uint8, {});
}

constexpr Operator kQuantizationOperators[] = {
    {"BitCast", bit_cast},
    {"Cast", cast, fold_cast},
    {"CastLike", cast_like, fold_cast},
    {"DequantizeLinear", dequantize_linear},
    {"DynamicQuantizeLinear", dynamic_quantize_linear},
    {"QuantizeLinear", quantize_linear},
};

}  // namespace

std::span<const Operator> quantization_operators() { return kQuantizationOperators; }

}  // namespace stowage::io::onnx::shape
