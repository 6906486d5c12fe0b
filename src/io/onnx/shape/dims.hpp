#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/call.hpp"

/// Arithmetic of shapes. Every function throws `Stop` where the result does not exist or is out of range.
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

/// Stops where no tensor can have these dims: a negative one, more than `kMaxRank`, more than 2^62 bytes.
void check_dims(ElementType type, std::span<const std::int64_t> dims);

/// `axis` counted from the front; negative ones count from the end.
[[nodiscard]] std::size_t normal_axis(std::int64_t axis, std::size_t rank);
/// The same for several, none of which may come twice. Marks them in a list as long as the rank.
[[nodiscard]] std::vector<bool> marked_axes(std::span<const std::int64_t> axes, std::size_t rank);

/// What both become when each is repeated along dimensions where it has one element, the shorter padded with ones in
/// front.
[[nodiscard]] Dims broadcast(const Dims& a, const Dims& b);

/// How far apart in memory neighbours along each dimension are. Precondition: the dims are checked.
[[nodiscard]] std::vector<std::int64_t> strides(std::span<const std::int64_t> dims);

}  // namespace stowage::io::onnx::shape
