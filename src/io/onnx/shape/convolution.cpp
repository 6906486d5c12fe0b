#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"
#include "io/onnx/shape/window.hpp"

// Convolutions. Weights are [outputs, inputs / groups, kernel …], transposed ones [inputs, outputs / groups, kernel …].
namespace stowage::io::onnx::shape {
namespace {

/// The window of a convolution whose weights are input `weights`.
Window kernel_window(const Call& call, std::size_t weights) {
  const Dims& dims = call.dims(weights);
  if (dims.size() < 2) stop(fmt::format("its weights are {}", to_string(dims)));
  return read_window(call, Dims(dims.begin() + 2, dims.end()));
}

void set_convolution(Call& call, ElementType type, std::size_t weights) {
  call.set(0, type, windowed(kernel_window(call, weights), call.dims(0), call.dim(weights, 0)));
}

void convolution(Call& call) { set_convolution(call, call.type(0), 1); }

void convolution_integer(Call& call) { set_convolution(call, ElementType::int32, 1); }

/// Inputs: x with scale and zero point, weights with scale and zero point, scale and zero point of the result.
void q_linear_convolution(Call& call) { set_convolution(call, call.type(7), 3); }

void transposed_convolution(Call& call) {
  const Dims& image = call.dims(0);
  const Window window = kernel_window(call, 1);
  const std::size_t axes = window.kernel.size();
  if (image.size() != axes + 2) stop(fmt::format("its window has {} dims, its input is {}", axes, to_string(image)));
  Dims dims = {image[0], times(call.dim(1, 1), call.node().integer("group", 1))};
  const std::vector<std::int64_t> given = call.list("output_shape");
  std::vector<std::int64_t> extra = call.list("output_padding");
  if (extra.empty()) extra.assign(axes, 0);
  if ((!given.empty() && given.size() != axes) || extra.size() != axes)
    stop("its output_shape or output_padding has another number of dims than its window");
  for (std::size_t i = 0; i < axes; ++i) {
    dims.push_back(given.empty() ? transposed_size(window, i, image[i + 2], extra[i]) : given[i]);
  }
  call.set(0, call.type(0), std::move(dims));
}

constexpr Operator kConvolutionOperators[] = {
    {"Conv", convolution},       {"ConvInteger", convolution_integer},  {"ConvTranspose", transposed_convolution},
    {"DeformConv", convolution}, {"QLinearConv", q_linear_convolution},
};

}  // namespace

std::span<const Operator> convolution_operators() { return kConvolutionOperators; }

}  // namespace stowage::io::onnx::shape
