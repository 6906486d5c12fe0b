#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// Fourier transforms. The last dimension holds the real part and, if its size is 2, the imaginary part.
namespace stowage::io::onnx::shape {
namespace {

/// The axis became an input with version 20, and its default changed.
std::size_t transformed_axis(const Call& call) {
  std::int64_t axis = call.version() < 20 ? call.node().integer("axis", 1) : -2;
  if (call.version() >= 20 && call.has(2)) axis = call.integer(2);
  return normal_axis(axis, call.rank(0));
}

void fourier(Call& call) {
  Dims dims = call.dims(0);
  const bool keeps_length = call.node().integer("onesided", 0) == 0 && !call.has(1);
  if (keeps_length && !dims.empty()) {  // along whichever axis
    dims.back() = 2;
    return call.set(0, call.type(0), std::move(dims));
  }
  const std::size_t axis = transformed_axis(call);
  if (axis + 1 == dims.size()) stop("its axis holds the parts of complex numbers");
  const bool onesided = call.node().integer("onesided", 0) != 0;
  if (onesided && call.node().integer("inverse", 0) != 0)
    stop("the output of an inverse one-sided transform differs by version");
  if (call.has(1)) dims[axis] = call.integer(1);
  if (onesided) dims[axis] = dims[axis] / 2 + 1;
  dims.back() = 2;
  call.set(0, call.type(0), std::move(dims));
}

/// The signal is [batch, length, parts], split into frames that begin `step` apart.
void short_time_fourier(Call& call) {
  const std::int64_t step = call.integer(1);
  const std::int64_t frame = call.has(3) ? call.integer(3) : call.dim(2, 0);
  const std::int64_t room = minus(call.dim(0, 1), frame);
  if (step < 1 || frame < 1 || room < 0)
    stop(fmt::format("frames of {} elements, {} apart, do not fit its signal", frame, step));
  const bool onesided = call.node().integer("onesided", 1) != 0;
  call.set(0, call.type(0), {call.dim(0, 0), room / step + 1, onesided ? frame / 2 + 1 : frame, 2});
}

constexpr Operator kSignalOperators[] = {{"DFT", fourier}, {"STFT", short_time_fourier}};

}  // namespace

std::span<const Operator> signal_operators() { return kSignalOperators; }

}  // namespace stowage::io::onnx::shape
