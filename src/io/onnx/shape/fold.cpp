#include "io/onnx/shape/fold.hpp"

#include <cmath>

#include "io/onnx/shape/dims.hpp"

namespace stowage::io::onnx::shape {
namespace {

struct Limits {
  std::int64_t lowest;
  std::int64_t highest;
};

template <class T>
constexpr Limits limits_of() {
  return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
}

std::optional<Limits> limits(ElementType type) {
  switch (type) {
    case ElementType::boolean:
      return Limits{0, 1};
    case ElementType::int8:
      return limits_of<std::int8_t>();
    case ElementType::uint8:
      return limits_of<std::uint8_t>();
    case ElementType::int16:
      return limits_of<std::int16_t>();
    case ElementType::uint16:
      return limits_of<std::uint16_t>();
    case ElementType::int32:
      return limits_of<std::int32_t>();
    case ElementType::uint32:
      return limits_of<std::uint32_t>();
    case ElementType::int64:
      return limits_of<std::int64_t>();
    case ElementType::uint64:  // values beyond int64 never occur in shapes
      return Limits{0, std::numeric_limits<std::int64_t>::max()};
    default:
      return std::nullopt;
  }
}

bool is_real(ElementType type) { return type == ElementType::float32 || type == ElementType::float64; }

std::int64_t truncated(double value, ElementType to) {
  // 2^63 is exact as a double, and everything below it fits; NaN fails both comparisons.
  constexpr double kEnd = 9223372036854775808.0;
  if (!(value >= -kEnd && value < kEnd)) stop("a number is out of range");
  return as_element(to, static_cast<std::int64_t>(value));
}

}  // namespace

std::int64_t as_element(ElementType type, std::int64_t value) {
  const std::optional<Limits> range = limits(type);
  if (!range || value < range->lowest || value > range->highest) stop("a number is out of range");
  return value;
}

double as_element(ElementType type, double value) {
  if (!is_real(type)) stop("numbers of that type are not folded");
  // Outside float32's range the conversion would be undefined.
  if (type == ElementType::float64 || std::isnan(value) || std::isinf(value)) return value;
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) stop("a number is out of range");
  return static_cast<double>(static_cast<float>(value));
}

Elements converted(const Elements& elements, ElementType to) {
  if (is_real(to)) {
    std::vector<double> result;
    std::visit(
        [&](const auto& from) {
          for (const auto value : from) result.push_back(as_element(to, static_cast<double>(value)));
        },
        elements);
    return result;
  }
  std::vector<std::int64_t> result;
  if (const auto* const integers = std::get_if<std::vector<std::int64_t>>(&elements)) {
    for (const std::int64_t value : *integers) {
      result.push_back(as_element(to, to == ElementType::boolean ? static_cast<std::int64_t>(value != 0) : value));
    }
    return result;
  }
  for (const double value : std::get<std::vector<double>>(elements)) {
    result.push_back(to == ElementType::boolean ? static_cast<std::int64_t>(value != 0) : truncated(value, to));
  }
  return result;
}

std::int64_t size(const Elements& elements) {
  return std::visit([](const auto& list) { return length(list); }, elements);
}

std::vector<std::int64_t> walk(const Dims& dims, std::int64_t start, std::span<const std::int64_t> steps) {
  std::vector<std::int64_t> places;
  const std::int64_t total = count(dims);
  if (total > kMaxFoldedElements) stop("it has too many elements to fold");
  std::vector<std::int64_t> at(dims.size());
  std::int64_t place = start;
  for (std::int64_t i = 0; i < total; ++i) {
    places.push_back(place);
    for (std::size_t d = dims.size(); d-- > 0;) {
      place += steps[d];
      if (++at[d] < dims[d]) break;
      place -= steps[d] * dims[d];
      at[d] = 0;
    }
  }
  return places;
}

std::vector<std::int64_t> walk_repeated(const Dims& from, const Dims& dims) {
  if (from.size() > dims.size()) stop("its shapes cannot be broadcast");
  const std::vector<std::int64_t> own = strides(from);
  std::vector<std::int64_t> steps(dims.size());
  const std::size_t shift = dims.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != dims[shift + i]) stop("its shapes cannot be broadcast");
    steps[shift + i] = from[i] == 1 ? 0 : own[i];
  }
  return walk(dims, 0, steps);
}

Elements pick(const Elements& source, std::span<const std::int64_t> places) {
  return std::visit(
      [&]<class T>(const std::vector<T>& from) -> Elements {
        std::vector<T> to;
        to.reserve(places.size());
        for (const std::int64_t place : places) {
          if (place < 0 || place >= length(from)) stop("an index is out of range");
          to.push_back(from[static_cast<std::size_t>(place)]);
        }
        return to;
      },
      source);
}

}  // namespace stowage::io::onnx::shape
