#include <algorithm>
#include <cmath>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators whose inputs are broadcast to one shape.
namespace stowage::io::onnx::shape {
namespace {

/// Before version 7 only the second operand was broadcast, to the shape of the first.
Dims binary_dims(const Call& call) { return call.version() < 7 ? call.dims(0) : broadcast(call.dims(0), call.dims(1)); }

void arithmetic(Call& call) { call.set(0, call.type(0), binary_dims(call)); }

void comparison(Call& call) { call.set(0, ElementType::boolean, binary_dims(call)); }

void where(Call& call) { call.set(0, call.type(1), broadcast(call.dims(0), broadcast(call.dims(1), call.dims(2)))); }

// Integers and real numbers, each with its own arithmetic.

struct Add {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return plus(a, b); }
  double operator()(double a, double b) const { return a + b; }
};

struct Sub {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return minus(a, b); }
  double operator()(double a, double b) const { return a - b; }
};

struct Mul {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return times(a, b); }
  double operator()(double a, double b) const { return a * b; }
};

/// Rounds integers towards zero.
struct Div {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    if (b == 0) stop("it divides by zero");
    return b == -1 ? minus(0, a) : a / b;
  }
  double operator()(double a, double b) const {
    if (b == 0) stop("it divides by zero");
    return a / b;
  }
};

/// The sign of the divisor, as in Python; that of the dividend with fmod, as in C.
struct Mod {
  bool fmod;
  std::int64_t operator()(Integer auto a, Integer auto b) const {
    if (b == 0) stop("it divides by zero");
    const std::int64_t rest = b == -1 ? 0 : a % b;
    return !fmod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

struct Pow {
  std::int64_t operator()(Integer auto base, Integer auto exponent) const {
    if (exponent < 0 || exponent > 62) stop("its exponent is out of range");
    std::int64_t result = 1;
    for (std::int64_t i = 0; i < exponent; ++i) result = times(result, base);
    return result;
  }
};

struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

struct BitAnd {
  std::int64_t operator()(Integer auto a, Integer auto b) const { return a & b; }
};

struct BitOr {
  std::int64_t operator()(Integer auto a, Integer auto b) const { return a | b; }
};

struct BitXor {
  std::int64_t operator()(Integer auto a, Integer auto b) const { return a ^ b; }
};

/// A comparison as elements.
template <class Compare>
struct Test {
  template <class T>
  std::int64_t operator()(T a, T b) const {
    return static_cast<std::int64_t>(Compare()(a, b));
  }
};

template <class F>
void fold_with(Call& call) {
  fold_all(call, F());
}

/// In old versions an attribute gives the axis of the second operand.
template <class F>
void fold_binary(Call& call) {
  if (call.version() >= 7 && call.input_count() == 2) fold_all(call, F());
}

void fold_mod(Call& call) {
  if (call.input_count() == 2) fold_all(call, Mod{.fmod = call.node().integer("fmod", 0) != 0});
}

void fold_where(Call& call) {
  const Dims& dims = *call.output(0).dims;
  const Elements chosen = pick(*call.elements(0), walk_repeated(call.dims(0), dims));
  const Elements yes = pick(*call.elements(1), walk_repeated(call.dims(1), dims));
  const Elements no = pick(*call.elements(2), walk_repeated(call.dims(2), dims));
  const auto* const conditions = std::get_if<std::vector<std::int64_t>>(&chosen);
  if (conditions == nullptr || yes.index() != no.index()) return;
  std::visit(
      [&]<class T>(std::vector<T> result) {
        const auto& others = std::get<std::vector<T>>(no);
        for (std::size_t i = 0; i < result.size(); ++i) {
          if ((*conditions)[i] == 0) result[i] = others[i];
        }
        call.set_elements(0, std::move(result));
      },
      yes);
}

constexpr Operator kBroadcastOperators[] = {
    {"Add", arithmetic, fold_binary<Add>},
    {"And", comparison, fold_binary<BitAnd>},
    {"BitShift", arithmetic},
    {"BitwiseAnd", arithmetic, fold_binary<BitAnd>},
    {"BitwiseOr", arithmetic, fold_binary<BitOr>},
    {"BitwiseXor", arithmetic, fold_binary<BitXor>},
    {"Div", arithmetic, fold_binary<Div>},
    {"Equal", comparison, fold_binary<Test<std::equal_to<>>>},
    {"Greater", comparison, fold_binary<Test<std::greater<>>>},
    {"GreaterOrEqual", comparison, fold_binary<Test<std::greater_equal<>>>},
    {"Less", comparison, fold_binary<Test<std::less<>>>},
    {"LessOrEqual", comparison, fold_binary<Test<std::less_equal<>>>},
    {"Max", broadcast_all, fold_with<Max>},
    {"Mean", broadcast_all},
    {"Min", broadcast_all, fold_with<Min>},
    {"Mod", arithmetic, fold_mod},
    {"Mul", arithmetic, fold_binary<Mul>},
    {"Or", comparison, fold_binary<BitOr>},
    {"Pow", arithmetic, fold_binary<Pow>},
    {"StringConcat", arithmetic},
    {"Sub", arithmetic, fold_binary<Sub>},
    {"Sum", broadcast_all, fold_with<Add>},
    {"Where", where, fold_where},
    {"Xor", comparison, fold_binary<BitXor>},
};

}  // namespace

void broadcast_all(Call& call) {
  Dims dims = call.dims(0);
  for (std::size_t i = 1; i < call.input_count(); ++i) dims = broadcast(dims, call.dims(i));
  call.set(0, call.type(0), std::move(dims));
}

std::span<const Operator> broadcast_operators() { return kBroadcastOperators; }

}  // namespace stowage::io::onnx::shape
