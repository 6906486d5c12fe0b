#include "io/onnx/shape/dims.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stowage::io::onnx::shape {
namespace {

[[noreturn]] void out_of_range() { stop("its size is out of range"); }

}  // namespace

std::string to_string(std::span<const std::int64_t> dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) out_of_range();
  return result;
}

std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) out_of_range();
  return result;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) out_of_range();
  return result;
}

std::int64_t count(std::span<const std::int64_t> dims) {
  const std::optional<std::int64_t> result = element_count(dims);
  if (!result) out_of_range();
  return *result;
}

void check_dims(ElementType type, std::span<const std::int64_t> dims) {
  if (dims.size() > kMaxRank)
    stop(fmt::format("it has {} dims, and more than {} are not inferred", dims.size(), kMaxRank));
  const auto negative = std::find_if(dims.begin(), dims.end(), [](std::int64_t dim) { return dim < 0; });
  if (negative != dims.end()) stop(fmt::format("its size would be negative: {}", to_string(dims)));
  const bool has_size = element_bits(type) == 0 ? element_count(dims).has_value() : tensor_size(type, dims).has_value();
  if (!has_size) stop(fmt::format("it has more than 2^62 bytes: {}", to_string(dims)));
}

std::size_t normal_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) stop(fmt::format("the axis {} is not one of {} dims", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::vector<bool> marked_axes(std::span<const std::int64_t> axes, std::size_t rank) {
  std::vector<bool> marked(rank);
  for (const std::int64_t axis : axes) {
    const std::size_t place = normal_axis(axis, rank);
    if (marked[place]) stop(fmt::format("the axis {} occurs twice", axis));
    marked[place] = true;
  }
  return marked;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims result = a.size() < b.size() ? b : a;
  const Dims& shorter = a.size() < b.size() ? a : b;
  const std::size_t shift = result.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dim = result[shift + i];
    if (dim == shorter[i] || shorter[i] == 1) continue;
    if (dim != 1) stop(fmt::format("the shapes {} and {} cannot be broadcast", to_string(a), to_string(b)));
    dim = shorter[i];
  }
  return result;
}

std::vector<std::int64_t> strides(std::span<const std::int64_t> dims) {
  std::vector<std::int64_t> result(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    result[i] = stride;
    stride *= std::max<std::int64_t>(dims[i], 1);
  }
  return result;
}

}  // namespace stowage::io::onnx::shape
