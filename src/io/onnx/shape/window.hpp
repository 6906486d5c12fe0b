#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/onnx/shape/call.hpp"

namespace stowage::io::onnx::shape {

enum class AutoPad : std::uint8_t { none, same, valid };

enum class Rounding : std::uint8_t { down, up };

/// What slides over the dimensions of an image behind batch and channels: one entry for each in every list, two in
/// `pads` (all begins, then all ends).
struct Window {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads;
  AutoPad auto_pad = AutoPad::none;
  Rounding rounding = Rounding::down;
};

/// What the attributes of a node say, with `kernel` where they say no kernel_shape. Stops where lists have other
/// lengths, or strides, dilations or kernels below 1.
[[nodiscard]] Window read_window(const Call& call, std::vector<std::int64_t> kernel);

/// How many places the window has along dimension `axis` (counted without batch and channels) of that size.
[[nodiscard]] std::int64_t window_places(const Window& window, std::size_t axis, std::int64_t size);

/// How large an image is that such a window writes, one place for each of `size` elements, with `extra` elements at the
/// end.
[[nodiscard]] std::int64_t transposed_size(const Window& window, std::size_t axis, std::int64_t size,
                                           std::int64_t extra);

/// What the window reaches over: holes included.
[[nodiscard]] std::int64_t window_reach(const Window& window, std::size_t axis);

/// The shape of an image: batch and channels, then each of `image`'s other dimensions as the window leaves it.
[[nodiscard]] Dims windowed(const Window& window, const Dims& image, std::int64_t channels);

}  // namespace stowage::io::onnx::shape
