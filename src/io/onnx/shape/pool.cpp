#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"
#include "io/onnx/shape/window.hpp"

// Pools: over a sliding window, over whole images, over regions.
namespace stowage::io::onnx::shape {
namespace {

Dims pooled_dims(const Call& call) {
  const Window window = read_window(call, {});
  if (window.kernel.empty()) stop("it has no kernel_shape");
  const bool dilated =
      std::any_of(window.dilations.begin(), window.dilations.end(), [](std::int64_t each) { return each > 1; });
  if (dilated && window.auto_pad == AutoPad::same) stop("runtimes differ about padding a pool with holes");
  return windowed(window, call.dims(0), call.dim(0, 1));
}

void pool(Call& call) { call.set(0, call.type(0), pooled_dims(call)); }

void max_pool(Call& call) {
  pool(call);
  call.set(1, ElementType::int64, pooled_dims(call));
}

void global_pool(Call& call) {
  Dims dims = call.dims(0);
  if (dims.size() < 2) stop(fmt::format("its input is {}", to_string(dims)));
  std::fill(dims.begin() + 2, dims.end(), 1);
  call.set(0, call.type(0), std::move(dims));
}

void max_unpool(Call& call) {
  if (call.has(2)) return call.set(0, call.type(0), call.integers(2));
  const Dims& image = call.dims(0);
  const Window window = read_window(call, {});
  if (image.size() != window.kernel.size() + 2) stop(fmt::format("its input is {}", to_string(image)));
  Dims dims = {image[0], image[1]};
  for (std::size_t i = 2; i < image.size(); ++i) dims.push_back(transposed_size(window, i - 2, image[i], 0));
  call.set(0, call.type(0), std::move(dims));
}

void roi_align(Call& call) {
  const Node& node = call.node();
  call.set(0, call.type(0),
           {call.dim(1, 0), call.dim(0, 1), node.integer("output_height", 1), node.integer("output_width", 1)});
}

void max_roi_pool(Call& call) {
  const std::vector<std::int64_t> shape = call.list("pooled_shape");
  if (shape.size() != 2) stop("its pooled_shape is not a height and a width");
  call.set(0, call.type(0), {call.dim(1, 0), call.dim(0, 1), shape[0], shape[1]});
}

constexpr Operator kPoolOperators[] = {
    {"AveragePool", pool},
    {"GlobalAveragePool", global_pool},
    {"GlobalLpPool", global_pool},
    {"GlobalMaxPool", global_pool},
    {"LpPool", pool},
    {"MaxPool", max_pool},
    {"MaxRoiPool", max_roi_pool},
    {"MaxUnpool", max_unpool},
    {"RoiAlign", roi_align},
};

}  // namespace

std::span<const Operator> pool_operators() { return kPoolOperators; }

}  // namespace stowage::io::onnx::shape
