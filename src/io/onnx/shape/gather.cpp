#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators that read and write elements by index.
namespace stowage::io::onnx::shape {
namespace {

void gather(Call& call) {
  const Dims& data = call.dims(0);
  const Dims& indices = call.dims(1);
  const auto axis = static_cast<std::ptrdiff_t>(normal_axis(call.node().integer("axis", 0), data.size()));
  Dims dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  call.set(0, call.type(0), std::move(dims));
}

/// Treats the data as rows of `size` blocks of `inner` elements, and takes the requested blocks.
void fold_gather(Call& call) {
  const std::span<const std::int64_t> data(call.dims(0));
  const std::size_t axis = normal_axis(call.node().integer("axis", 0), data.size());
  const std::int64_t size = data[axis];
  const std::int64_t outer = count(data.first(axis));
  const std::int64_t inner = count(data.subspan(axis + 1));
  std::vector<std::int64_t> places;
  if (outer == 0 || inner == 0) return call.set_elements(0, pick(*call.elements(0), places));
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const std::int64_t index : call.integers(1)) {
      if (index < -size || index >= size) stop("an index is out of range");
      const std::int64_t block = row * size + (index < 0 ? index + size : index);
      for (std::int64_t i = 0; i < inner; ++i) places.push_back(block * inner + i);
    }
  }
  call.set_elements(0, pick(*call.elements(0), places));
}

void gather_elements(Call& call) {
  if (call.rank(0) != call.rank(1))
    stop(fmt::format("its indices have {} dims, its data {}", call.rank(1), call.rank(0)));
  call.set(0, call.type(0), call.dims(1));
}

void gather_nd(Call& call) {
  const Dims& data = call.dims(0);
  const Dims& indices = call.dims(1);
  const std::int64_t batch = call.node().integer("batch_dims", 0);
  if (indices.empty()) stop("its indices are a scalar");
  if (batch < 0 || batch >= length(indices) || batch >= length(data) || indices.back() > length(data) - batch)
    stop(fmt::format("indices {} do not fit data {}", to_string(indices), to_string(data)));
  Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + batch + indices.back(), data.end());
  call.set(0, call.type(0), std::move(dims));
}

/// Without an axis, the data is one row. The number of elements taken depends on the condition's elements.
void compress(Call& call) {
  const std::vector<std::int64_t>& condition = call.integers(1);
  const std::int64_t taken =
      std::count_if(condition.begin(), condition.end(), [](std::int64_t each) { return each != 0; });
  if (call.node().find("axis") == nullptr) return call.set(0, call.type(0), {taken});
  Dims dims = call.dims(0);
  dims[normal_axis(call.node().integer("axis", 0), dims.size())] = taken;
  call.set(0, call.type(0), std::move(dims));
}

constexpr Operator kGatherOperators[] = {
    {"Compress", compress},    {"Gather", gather, fold_gather}, {"GatherElements", gather_elements},
    {"GatherND", gather_nd},   {"Scatter", like_first},         {"ScatterElements", like_first},
    {"ScatterND", like_first}, {"TensorScatter", like_first},
};

}  // namespace

std::span<const Operator> gather_operators() { return kGatherOperators; }

}  // namespace stowage::io::onnx::shape
