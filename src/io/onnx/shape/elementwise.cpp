#include <cmath>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators of one tensor whose output has that tensor's shape.
namespace stowage::io::onnx::shape {
namespace {

void test_first(Call& call) { call.set(0, ElementType::boolean, call.dims(0)); }

/// The mask had the type of the data before version 10.
void dropout(Call& call) {
  like_first(call);
  call.set(1, call.version() >= 10 ? ElementType::boolean : call.type(0), call.dims(0));
}

std::int64_t negated(std::int64_t value) { return minus(0, value); }
double negated(double value) { return -value; }

void fold_abs(Call& call) {
  fold_each(call, [](auto value) { return value < 0 ? negated(value) : value; });
}

void fold_neg(Call& call) {
  fold_each(call, [](auto value) { return negated(value); });
}

void fold_sign(Call& call) {
  fold_each(call, []<class T>(T value) { return static_cast<T>((value > 0) - (value < 0)); });
}

void fold_not(Call& call) {
  fold_each(call, [](Integer auto value) { return static_cast<std::int64_t>(value == 0); });
}

void fold_floor(Call& call) {
  fold_each(call, [](Real auto value) { return std::floor(value); });
}

void fold_ceil(Call& call) {
  fold_each(call, [](Real auto value) { return std::ceil(value); });
}

/// Rounds half to even, as nearbyint does in the default rounding mode.
void fold_round(Call& call) {
  fold_each(call, [](Real auto value) { return std::nearbyint(value); });
}

void fold_sqrt(Call& call) {
  fold_each(call, [](Real auto value) { return std::sqrt(value); });
}

void fold_relu(Call& call) {
  fold_each(call, []<class T>(T value) { return value > 0 ? value : T{0}; });
}

constexpr Operator kElementwiseOperators[] = {
    {"Abs", like_first, fold_abs},
    {"Acos", like_first},
    {"Acosh", like_first},
    {"Affine", like_first},  // until version 10, as are ImageScaler, ParametricSoftplus and ScaledTanh
    {"Asin", like_first},
    {"Asinh", like_first},
    {"Atan", like_first},
    {"Atanh", like_first},
    {"BitwiseNot", like_first},
    {"Ceil", like_first, fold_ceil},
    {"Celu", like_first},
    {"Clip", like_first},
    {"Cos", like_first},
    {"Cosh", like_first},
    {"CumProd", like_first},
    {"CumSum", like_first},
    {"Dropout", dropout},
    {"Elu", like_first},
    {"Erf", like_first},
    {"Exp", like_first},
    {"Floor", like_first, fold_floor},
    {"Gelu", like_first},
    {"HardSigmoid", like_first},
    {"HardSwish", like_first},
    {"Hardmax", like_first},
    {"Identity", like_first, keep_elements},
    {"ImageScaler", like_first},
    {"IsInf", test_first},
    {"IsNaN", test_first},
    {"LeakyRelu", like_first},
    {"Log", like_first},
    {"LogSoftmax", like_first},
    {"Mish", like_first},
    {"Neg", like_first, fold_neg},
    {"Not", like_first, fold_not},
    {"PRelu", like_first},
    {"ParametricSoftplus", like_first},
    {"Reciprocal", like_first},
    {"RegexFullMatch", test_first},
    {"Relu", like_first, fold_relu},
    {"ReverseSequence", like_first},
    {"Round", like_first, fold_round},
    {"ScaledTanh", like_first},
    {"Selu", like_first},
    {"Shrink", like_first},
    {"Sigmoid", like_first},
    {"Sign", like_first, fold_sign},
    {"Sin", like_first},
    {"Sinh", like_first},
    {"Softmax", like_first},
    {"Softplus", like_first},
    {"Softsign", like_first},
    {"Sqrt", like_first, fold_sqrt},
    {"SwiGLU", like_first},
    {"Swish", like_first},
    {"Tan", like_first},
    {"Tanh", like_first},
    {"ThresholdedRelu", like_first},
    {"Trilu", like_first},
};

}  // namespace

void like_first(Call& call) { call.set(0, call.type(0), call.dims(0)); }

void keep_elements(Call& call) {
  if (call.output(0).dims && count(*call.output(0).dims) == size(*call.elements(0)))
    call.set_elements(0, *call.elements(0));
}

std::span<const Operator> elementwise_operators() { return kElementwiseOperators; }

}  // namespace stowage::io::onnx::shape
