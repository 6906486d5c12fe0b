#include "io/onnx/shape/window.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"

namespace stowage::io::onnx::shape {
namespace {

AutoPad auto_pad_of(const Call& call) {
  const std::string_view text = call.node().text("auto_pad", "NOTSET");
  if (text == "SAME_UPPER" || text == "SAME_LOWER") return AutoPad::same;
  if (text == "VALID") return AutoPad::valid;
  if (text != "NOTSET" && !text.empty()) stop(fmt::format("its auto_pad is '{}'", text));
  return AutoPad::none;
}

std::vector<std::int64_t> list_of(const Call& call, std::string_view attribute, std::size_t size,
                                  std::int64_t otherwise) {
  std::vector<std::int64_t> list = call.list(attribute);
  if (list.empty()) list.assign(size, otherwise);
  if (list.size() != size) stop(fmt::format("its {} are {}, not {}", attribute, list.size(), size));
  return list;
}

void check_positive(const std::vector<std::int64_t>& list, std::string_view what) {
  if (std::any_of(list.begin(), list.end(), [](std::int64_t each) { return each < 1; }))
    stop(fmt::format("its {} are {}", what, to_string(list)));
}

std::int64_t pads_at(const Window& window, std::size_t axis) {
  if (window.auto_pad != AutoPad::none) return 0;
  return plus(window.pads[axis], window.pads[window.kernel.size() + axis]);
}

}  // namespace

Window read_window(const Call& call, std::vector<std::int64_t> kernel) {
  const std::vector<std::int64_t>* const given = call.node().integers("kernel_shape");
  if (given != nullptr && !given->empty()) kernel = *given;
  const std::size_t size = kernel.size();
  Window window{.kernel = std::move(kernel),
                .strides = list_of(call, "strides", size, 1),
                .dilations = list_of(call, "dilations", size, 1),
                .pads = list_of(call, "pads", 2 * size, 0),
                .auto_pad = auto_pad_of(call),
                .rounding = call.node().integer("ceil_mode", 0) != 0 ? Rounding::up : Rounding::down};
  check_positive(window.kernel, "kernel");
  check_positive(window.strides, "strides");
  check_positive(window.dilations, "dilations");
  return window;
}

std::int64_t window_reach(const Window& window, std::size_t axis) {
  return plus(times(window.kernel[axis] - 1, window.dilations[axis]), 1);
}

std::int64_t window_places(const Window& window, std::size_t axis, std::int64_t size) {
  const std::int64_t stride = window.strides[axis];
  if (window.auto_pad == AutoPad::same) return divide_up(size, stride);
  const std::int64_t room = minus(plus(size, pads_at(window, axis)), window_reach(window, axis));
  if (room < 0) stop(fmt::format("its kernel covers {} elements, but there are {}", window_reach(window, axis), size));
  if (window.rounding == Rounding::down) return room / stride + 1;
  // A window must not begin in the padding at the end.
  const std::int64_t places = plus(divide_up(room, stride), 1);
  const std::int64_t begin = window.auto_pad == AutoPad::none ? window.pads[axis] : 0;
  return times(places - 1, stride) >= plus(size, begin) ? places - 1 : places;
}

std::int64_t transposed_size(const Window& window, std::size_t axis, std::int64_t size, std::int64_t extra) {
  const std::int64_t stride = window.strides[axis];
  const std::int64_t whole = plus(plus(times(stride, minus(size, 1)), extra), window_reach(window, axis));
  if (window.auto_pad == AutoPad::same) return std::min(whole, times(size, stride));
  return minus(whole, pads_at(window, axis));
}

Dims windowed(const Window& window, const Dims& image, std::int64_t channels) {
  if (image.size() != window.kernel.size() + 2)
    stop(fmt::format("its window has {} dims, its input is {}", window.kernel.size(), to_string(image)));
  Dims dims = {image[0], channels};
  for (std::size_t i = 2; i < image.size(); ++i) dims.push_back(window_places(window, i - 2, image[i]));
  return dims;
}

}  // namespace stowage::io::onnx::shape
