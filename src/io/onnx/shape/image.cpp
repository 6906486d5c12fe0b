#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"
#include "io/onnx/shape/resize.hpp"

// Operators that rearrange the elements of images.
namespace stowage::io::onnx::shape {
namespace {

std::int64_t block_size(const Call& call) {
  const std::int64_t block = call.node().integer("blocksize", 0);
  if (block < 1) stop(fmt::format("its blocksize is {}", block));
  if (call.rank(0) != 4) stop(fmt::format("its input is {}", to_string(call.dims(0))));
  return block;
}

std::int64_t divided(std::int64_t size, std::int64_t by) {
  if (by < 1 || size % by != 0) stop(fmt::format("{} elements cannot be split into blocks of {}", size, by));
  return size / by;
}

void space_to_depth(Call& call) {
  const std::int64_t block = block_size(call);
  const Dims& image = call.dims(0);
  call.set(0, call.type(0),
           {image[0], times(image[1], times(block, block)), divided(image[2], block), divided(image[3], block)});
}

void depth_to_space(Call& call) {
  const std::int64_t block = block_size(call);
  const Dims& image = call.dims(0);
  call.set(0, call.type(0),
           {image[0], divided(image[1], times(block, block)), times(image[2], block), times(image[3], block)});
}

/// The output has batch and channels of the image, and the other dims of the grid without the coordinates.
void grid_sample(Call& call) {
  const Dims& grid = call.dims(1);
  if (grid.size() < 3 || grid.size() != call.rank(0)) stop(fmt::format("its grid is {}", to_string(grid)));
  Dims dims = {call.dim(0, 0), call.dim(0, 1)};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  call.set(0, call.type(0), std::move(dims));
}

/// For an image of a size [N, C, (D,) H, W], a grid of 2 or 3 coordinates for each place.
void affine_grid(Call& call) {
  const std::vector<std::int64_t>& size = call.integers(1);
  if (size.size() != 4 && size.size() != 5) stop(fmt::format("its size is {}", to_string(size)));
  Dims dims = {size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(length(size) - 2);
  call.set(0, call.type(0), std::move(dims));
}

void column_to_image(Call& call) {
  Dims dims = {call.dim(0, 0), divided(call.dim(0, 1), count(call.integers(2)))};
  const std::vector<std::int64_t>& image = call.integers(1);
  dims.insert(dims.end(), image.begin(), image.end());
  call.set(0, call.type(0), std::move(dims));
}

/// Of the early operator sets: [N, C, H, W] without a border (left, top, right, bottom), or a window of the size
/// `scale` (height, width) behind the border at the left and top.
void crop(Call& call) {
  const std::vector<std::int64_t> border = call.list("border");
  const std::vector<std::int64_t> window = call.list("scale");
  Dims dims = call.dims(0);
  if (dims.size() != 4) stop(fmt::format("its input is {}", to_string(dims)));
  if (border.size() != 4) stop("its border is not one of four sides");
  if (window.size() == 2) {
    if (plus(border[1], window[0]) > dims[2] || plus(border[0], window[1]) > dims[3])
      stop(fmt::format("its window {} does not lie in {}", to_string(window), to_string(dims)));
    return call.set(0, call.type(0), {dims[0], dims[1], window[0], window[1]});
  }
  dims[2] = minus(dims[2], plus(border[1], border[3]));
  dims[3] = minus(dims[3], plus(border[0], border[2]));
  call.set(0, call.type(0), std::move(dims));
}

void resize(Call& call) { call.set(0, call.type(0), resized(call)); }

void upsample(Call& call) { call.set(0, call.type(0), upsampled(call)); }

constexpr Operator kImageOperators[] = {
    {"AffineGrid", affine_grid},      {"Col2Im", column_to_image}, {"Crop", crop},
    {"DepthToSpace", depth_to_space}, {"GridSample", grid_sample}, {"Resize", resize},
    {"SpaceToDepth", space_to_depth}, {"Upsample", upsample},
};

}  // namespace

std::span<const Operator> image_operators() { return kImageOperators; }

}  // namespace stowage::io::onnx::shape
