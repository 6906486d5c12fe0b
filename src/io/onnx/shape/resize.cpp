#include "io/onnx/shape/resize.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"

namespace stowage::io::onnx::shape {
namespace {

/// Sizes are computed in float32, as in runtimes: in double, some would be off by one.
std::int64_t to_size(float value) {
  if (!(value >= 0 && value < 9e15F)) stop("its size is out of range");
  return static_cast<std::int64_t>(value);
}

void scale(Dims& dims, const std::vector<double>& scales, const std::vector<std::size_t>& axes) {
  if (scales.size() != axes.size()) stop(fmt::format("it has {} scales, for {} dims", scales.size(), axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!(std::abs(scales[i]) < 1e15)) stop("its scales are out of range");
    std::int64_t& dim = dims[axes[i]];
    dim = to_size(std::floor(static_cast<float>(dim) * static_cast<float>(scales[i])));
  }
}

/// Sets the requested sizes, or uses one scale for all: the largest that stays within them, or the smallest that
/// reaches them.
void fit(const Call& call, Dims& dims, const std::vector<std::int64_t>& sizes, const std::vector<std::size_t>& axes) {
  if (sizes.size() != axes.size()) stop(fmt::format("it has {} sizes, for {} dims", sizes.size(), axes.size()));
  const std::string_view policy = call.node().text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") {
    for (std::size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = sizes[i];
    return;
  }
  if (policy != "not_larger" && policy != "not_smaller")
    stop(fmt::format("its keep_aspect_ratio_policy is '{}'", policy));
  const std::vector<std::int64_t> given = call.list("axes");
  if (std::any_of(given.begin(), given.end(), [](std::int64_t axis) { return axis < 0; }))
    stop("runtimes differ about one scale for axes that count from the end");
  std::optional<float> chosen;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (dims[axes[i]] == 0) stop("it scales an empty dim to a larger one");
    const float each = static_cast<float>(sizes[i]) / static_cast<float>(dims[axes[i]]);
    chosen = !chosen ? each : policy == "not_larger" ? std::min(*chosen, each) : std::max(*chosen, each);
  }
  for (const std::size_t axis : axes) dims[axis] = to_size(std::round(*chosen * static_cast<float>(dims[axis])));
}

std::vector<std::size_t> resized_axes(const Call& call) {
  std::vector<std::size_t> axes(call.rank(0));
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  const std::vector<std::int64_t>* const given = call.node().integers("axes");
  if (given == nullptr || given->empty()) return axes;
  static_cast<void>(marked_axes(*given, call.rank(0)));
  axes.clear();
  for (const std::int64_t axis : *given) axes.push_back(normal_axis(axis, call.rank(0)));
  return axes;
}

/// An empty list of scales or sizes counts as absent. The length is known even if the elements are not.
bool given(const Call& call, std::size_t input) { return call.has(input) && count(call.dims(input)) > 0; }

}  // namespace

/// Inputs are X and scales in version 10, and X, region, scales and sizes since then.
Dims resized(const Call& call) {
  Dims dims = call.dims(0);
  const std::vector<std::size_t> axes = resized_axes(call);
  if (call.version() < 11) {
    scale(dims, call.reals(1), axes);
    return dims;
  }
  if (given(call, 3)) {
    fit(call, dims, call.integers(3), axes);
    return dims;
  }
  if (!given(call, 2)) stop("it has neither scales nor sizes");
  // The standard scales the region, but runtimes scale the whole image.
  if (call.node().text("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    stop("it scales a region of its input");
  scale(dims, call.reals(2), axes);
  return dims;
}

/// Scales became an input with version 9.
Dims upsampled(const Call& call) {
  Dims dims = call.dims(0);
  std::vector<std::size_t> axes(dims.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (call.version() >= 9) {
    scale(dims, call.reals(1), axes);
    return dims;
  }
  const Attribute* const scales = call.node().find("scales");
  if (scales == nullptr) stop("it has no scales");
  scale(dims, scales->reals, axes);
  return dims;
}

}  // namespace stowage::io::onnx::shape
