#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/call.hpp"

/// Arithmetic of shapes. Every function throws `Stop` if the result does not exist or is out of range.
namespace stowage::io::onnx::shape {

/// "[1, 3, 224]".
[[nodiscard]] std::string to_string(std::span<const std::int64_t> dims);

[[nodiscard]] inline std::int64_t length(const auto& list) { return static_cast<std::int64_t>(list.size()); }

[[nodiscard]] std::int64_t plus(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t minus(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t times(std::int64_t a, std::int64_t b);
/// Rounded up. Precondition: `a` >= 0, `b` > 0.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// How many elements there are; 1 for a scalar.
[[nodiscard]] std::int64_t count(std::span<const std::int64_t> dims);

/// Stops if no tensor can have these dims: a negative dim, more than `kMaxRank` dims, more than 2^62 bytes.
void check_dims(ElementType type, std::span<const std::int64_t> dims);

/// `axis` as a position from the front; a negative `axis` counts from the end.
[[nodiscard]] std::size_t normal_axis(std::int64_t axis, std::size_t rank);
/// The same for several axes, which must be distinct. Marks them in a list as long as the rank.
[[nodiscard]] std::vector<bool> marked_axes(std::span<const std::int64_t> axes, std::size_t rank);

/// The common shape of both under numpy's broadcasting rules.
[[nodiscard]] Dims broadcast(const Dims& a, const Dims& b);

/// The distance in elements between neighbours along each dimension. Precondition: the dims are checked.
[[nodiscard]] std::vector<std::int64_t> strides(std::span<const std::int64_t> dims);

}  // namespace stowage::io::onnx::shape
