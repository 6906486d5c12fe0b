#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/onnx/shape/call.hpp"

namespace stowage::io::onnx::shape {

enum class AutoPad : std::uint8_t { none, same, valid };

enum class Rounding : std::uint8_t { down, up };

/// A window that slides over the dimensions of an image after batch and channels. Every list has one entry per
/// dimension, `pads` has two (all begins, then all ends).
struct Window {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads;
  AutoPad auto_pad = AutoPad::none;
  Rounding rounding = Rounding::down;
};

/// The window given by the attributes of a node, with `kernel` if there is no kernel_shape. Stops if lists have other
/// lengths, or if a stride, dilation or kernel is below 1.
[[nodiscard]] Window read_window(const Call& call, std::vector<std::int64_t> kernel);

/// The number of window positions along dimension `axis` (not counting batch and channels) of that size.
[[nodiscard]] std::int64_t window_places(const Window& window, std::size_t axis, std::int64_t size);

/// The size of the image that a transposed window writes, with one window position per element of `size`, and `extra`
/// elements at the end.
[[nodiscard]] std::int64_t transposed_size(const Window& window, std::size_t axis, std::int64_t size,
                                           std::int64_t extra);

/// The extent of the window, including the gaps of dilation.
[[nodiscard]] std::int64_t window_reach(const Window& window, std::size_t axis);

/// The output shape of a windowed operator: batch, `channels`, then the number of window positions in each dimension.
[[nodiscard]] Dims windowed(const Window& window, const Dims& image, std::int64_t channels);

}  // namespace stowage::io::onnx::shape
