#include <cmath>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators without data inputs: their output is constant, random, or given by its shape or range.
namespace stowage::io::onnx::shape {
namespace {

void set_constant(Call& call, ElementType type, Dims dims, std::optional<Elements> elements) {
  call.set(0, type, std::move(dims));
  if (elements) call.set_elements(0, std::move(*elements));
}

void constant(Call& call) {
  const Node& node = call.node();
  for (const std::string_view name : {"value", "sparse_value"}) {
    const TensorInfo* const tensor = node.tensor(name);
    if (tensor != nullptr) return set_constant(call, tensor->type, tensor->dims, tensor->elements);
  }
  if (const Attribute* const one = node.find("value_int"))
    return set_constant(call, ElementType::int64, {}, std::vector<std::int64_t>{one->integer});
  if (const Attribute* const one = node.find("value_float"))
    return set_constant(call, ElementType::float32, {}, std::vector<double>{one->real});
  if (const Attribute* const list = node.find("value_ints"))
    return set_constant(call, ElementType::int64, {length(list->integers)}, list->integers);
  if (const Attribute* const list = node.find("value_floats"))
    return set_constant(call, ElementType::float32, {length(list->reals)}, list->reals);
  if (node.find("value_string") != nullptr) return call.set(0, ElementType::string, {});
  if (const Attribute* const list = node.find("value_strings"))
    return call.set(0, ElementType::string, {length(list->texts)});
  stop("it has no value");
}

/// The value of a ConstantOfShape, repeated `total` times.
std::optional<Elements> repeated(const Elements& value, std::int64_t total) {
  if (total > kMaxFoldedElements || size(value) != 1) return std::nullopt;
  return pick(value, std::vector<std::int64_t>(static_cast<std::size_t>(total)));
}

void constant_of_shape(Call& call) {
  const Dims& dims = call.integers(0);
  const TensorInfo* const value = call.node().tensor("value");
  call.set(0, value != nullptr ? value->type : ElementType::float32, dims);
  if (value != nullptr && !value->elements) return;
  const Elements element = value != nullptr ? *value->elements : Elements(std::vector<double>{0});
  if (std::optional<Elements> elements = repeated(element, count(dims))) call.set_elements(0, std::move(*elements));
}

/// The number of values from `start` up to but excluding `limit`, `delta` apart.
std::int64_t range_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) stop("it steps by 0");
  const std::int64_t distance = delta > 0 ? minus(limit, start) : minus(start, limit);
  return distance <= 0 ? 0 : divide_up(distance, delta > 0 ? delta : minus(0, delta));
}

/// Computed as in runtimes: the difference in the type of the numbers, the rest in double.
std::int64_t range_count(ElementType type, double start, double limit, double delta) {
  const double steps = std::ceil(as_element(type, limit - start) / delta);
  if (!(delta != 0 && std::abs(steps) < 9e15)) stop("its size is out of range");
  return std::max<std::int64_t>(static_cast<std::int64_t>(steps), 0);
}

void range(Call& call) {
  const Elements* const start = call.elements(0);
  if (start != nullptr && std::holds_alternative<std::vector<double>>(*start)) {
    if (call.reals(0).size() != 1 || call.reals(1).size() != 1 || call.reals(2).size() != 1)
      stop("its inputs are not scalars");
    return call.set(0, call.type(0), {range_count(call.type(0), call.reals(0)[0], call.reals(1)[0], call.reals(2)[0])});
  }
  call.set(0, call.type(0), {range_count(call.integer(0), call.integer(1), call.integer(2))});
}

/// Not for real numbers: runtimes round their sums differently.
void fold_range(Call& call) {
  std::vector<std::int64_t> elements;
  const std::int64_t total = call.output(0).dims->front();
  for (std::int64_t i = 0; i < total; ++i) elements.push_back(plus(call.integer(0), times(i, call.integer(2))));
  call.set_elements(0, std::move(elements));
}

void eye_like(Call& call) {
  if (call.rank(0) != 2) stop("its input is not a matrix");
  call.set(0, call.type_attribute("dtype", call.type(0)), call.dims(0));
}

/// The depth may be of any numeric type.
std::int64_t depth_of(const Call& call) {
  const Elements* const depth = call.elements(1);
  if (depth == nullptr || std::holds_alternative<std::vector<std::int64_t>>(*depth)) return call.integer(1);
  const Elements integer = converted(*depth, ElementType::int64);
  if (size(integer) != 1) stop("its depth is not one number");
  return std::get<std::vector<std::int64_t>>(integer).front();
}

void one_hot(Call& call) {
  Dims dims = call.dims(0);
  const std::size_t axis = normal_axis(call.node().integer("axis", -1), dims.size() + 1);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth_of(call));
  call.set(0, call.type(2), std::move(dims));
}

void random(Call& call) {
  const std::vector<std::int64_t>* const shape = call.node().integers("shape");
  if (shape == nullptr) stop("it has no shape");
  call.set(0, call.type_attribute("dtype", ElementType::float32), *shape);
}

void random_like(Call& call) { call.set(0, call.type_attribute("dtype", call.type(0)), call.dims(0)); }

void multinomial(Call& call) {
  call.set(0, call.type_attribute("dtype", ElementType::int32),
           {call.dim(0, 0), call.node().integer("sample_size", 1)});
}

void window(Call& call) {
  call.set(0, call.type_attribute("output_datatype", ElementType::float32), {call.integer(0)});
}

void mel_weight_matrix(Call& call) {
  call.set(0, call.type_attribute("output_datatype", ElementType::float32),
           {plus(call.integer(1) / 2, 1), call.integer(0)});
}

constexpr Operator kGeneratorOperators[] = {
    {"Bernoulli", random_like},   {"BlackmanWindow", window},
    {"Constant", constant},       {"ConstantOfShape", constant_of_shape},
    {"EyeLike", eye_like},        {"HammingWindow", window},
    {"HannWindow", window},       {"MelWeightMatrix", mel_weight_matrix},
    {"Multinomial", multinomial}, {"OneHot", one_hot},
    {"RandomNormal", random},     {"RandomNormalLike", random_like},
    {"RandomUniform", random},    {"RandomUniformLike", random_like},
    {"Range", range, fold_range},
};

}  // namespace

std::span<const Operator> generator_operators() { return kGeneratorOperators; }

}  // namespace stowage::io::onnx::shape
