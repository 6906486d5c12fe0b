#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators that return a shape, or that give the same elements another shape or order.
namespace stowage::io::onnx::shape {
namespace {

/// The dims from `start` to `end` (since version 15); negative values count from the end, and both are clamped.
void shape_of(Call& call) {
  const Dims& dims = call.dims(0);
  const std::int64_t rank = length(dims);
  const auto clamped = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  const std::int64_t start = clamped(call.node().integer("start", 0));
  const std::int64_t end = std::max(start, clamped(call.node().integer("end", rank)));
  const std::vector<std::int64_t> part(dims.begin() + start, dims.begin() + end);
  call.set(0, ElementType::int64, {length(part)});
  call.set_elements(0, part);
}

void size_of(Call& call) {
  const std::int64_t elements = count(call.dims(0));
  call.set(0, ElementType::int64, {});
  call.set_elements(0, std::vector<std::int64_t>{elements});
}

/// 0 copies the input's dim at that position, unless the node allows zeros.
void copy_dims(const Call& call, Dims& shape) {
  if (call.node().integer("allowzero", 0) != 0) return;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = call.dim(0, i);
  }
}

/// -1 becomes the remaining number of elements.
void fill_rest(const Call& call, Dims& shape) {
  const auto rest = std::find(shape.begin(), shape.end(), -1);
  if (rest == shape.end()) return;
  *rest = 1;
  if (std::find(shape.begin(), shape.end(), -1) != shape.end()) stop("its shape has more than one -1");
  const std::int64_t others = count(shape);
  const std::int64_t total = count(call.dims(0));
  if (others == 0 || total % others != 0)
    stop(fmt::format("{} elements cannot be shaped by multiples of {}", total, others));
  *rest = total / others;
}

/// The shape became an input with version 5.
void reshape(Call& call) {
  Dims shape = call.version() < 5 ? call.list("shape") : call.integers(1);
  if (shape.size() > kMaxRank) check_dims(ElementType::undefined, shape);
  copy_dims(call, shape);
  fill_rest(call, shape);
  const ValueFacts& data = call.input(0);
  if (data.dims && count(*data.dims) != count(shape))
    stop(fmt::format("{} has a different number of elements than {}", to_string(*data.dims), to_string(shape)));
  call.set(0, call.type(0), std::move(shape));
}

void flatten(Call& call) {
  const Dims& dims = call.dims(0);
  const std::int64_t axis = call.node().integer("axis", 1);
  const std::int64_t rank = length(dims);
  if (axis < -rank || axis > rank) stop(fmt::format("the axis {} is not one of {} dims", axis, rank));
  const auto place = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::span<const std::int64_t> all(dims);
  call.set(0, call.type(0), {count(all.first(place)), count(all.subspan(place))});
}

/// Axes became an input with version 13.
std::vector<std::int64_t> squeezed_axes(const Call& call) {
  if (call.version() < 13) return call.list("axes");
  return call.has(1) ? call.integers(1) : std::vector<std::int64_t>();
}

void squeeze(Call& call) {
  const Dims& dims = call.dims(0);
  const std::vector<std::int64_t> axes = squeezed_axes(call);
  const std::vector<bool> marked = marked_axes(axes, dims.size());
  Dims result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (marked[i] && dims[i] != 1) stop(fmt::format("dimension {} of {} is not 1", i, to_string(dims)));
    if (!(axes.empty() ? dims[i] == 1 : marked[i])) result.push_back(dims[i]);
  }
  call.set(0, call.type(0), std::move(result));
}

void unsqueeze(Call& call) {
  const Dims& dims = call.dims(0);
  const std::vector<std::int64_t> axes = squeezed_axes(call);
  const std::size_t rank = dims.size() + axes.size();
  if (rank > kMaxRank) stop(fmt::format("it has {} dims, and more than {} are not inferred", rank, kMaxRank));
  const std::vector<bool> added = marked_axes(axes, rank);
  Dims result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) result.push_back(added[i] ? 1 : dims[next++]);
  call.set(0, call.type(0), std::move(result));
}

/// The input dimension of each output dimension; by default in reverse.
std::vector<std::size_t> permutation(const Call& call) {
  const std::size_t rank = call.rank(0);
  const std::vector<std::int64_t>* const given = call.node().integers("perm");
  std::vector<std::size_t> order;
  if (given == nullptr || (given->empty() && rank > 0)) {
    for (std::size_t i = rank; i-- > 0;) order.push_back(i);
    return order;
  }
  if (given->size() != rank) stop(fmt::format("perm has {} places, for {} dims", given->size(), rank));
  static_cast<void>(marked_axes(*given, rank));
  for (const std::int64_t axis : *given) order.push_back(normal_axis(axis, rank));
  return order;
}

void transpose(Call& call) {
  Dims dims;
  for (const std::size_t axis : permutation(call)) dims.push_back(call.dims(0)[axis]);
  call.set(0, call.type(0), std::move(dims));
}

void fold_transpose(Call& call) {
  const std::vector<std::int64_t> own = strides(call.dims(0));
  std::vector<std::int64_t> steps;
  for (const std::size_t axis : permutation(call)) steps.push_back(own[axis]);
  call.set_elements(0, pick(*call.elements(0), walk(*call.output(0).dims, 0, steps)));
}

void expand(Call& call) { call.set(0, call.type(0), broadcast(call.dims(0), call.integers(1))); }

void fold_expand(Call& call) {
  call.set_elements(0, pick(*call.elements(0), walk_repeated(call.dims(0), *call.output(0).dims)));
}

/// Version 1 repeats along one axis; the count and the axis are inputs.
Dims repeats(const Call& call) {
  if (call.version() >= 6) return call.integers(1);
  Dims result(call.rank(0), 1);
  result[normal_axis(call.integer(2), result.size())] = call.integer(1);
  return result;
}

void tile(Call& call) {
  Dims dims = call.dims(0);
  const Dims times_each = repeats(call);
  if (times_each.size() != dims.size()) stop(fmt::format("it repeats {} dims of {}", times_each.size(), dims.size()));
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = times(dims[i], times_each[i]);
  call.set(0, call.type(0), std::move(dims));
}

/// Tiling is broadcasting in a tensor of twice the rank, where every other dimension is repeated.
void fold_tile(Call& call) {
  const Dims& dims = call.dims(0);
  const Dims times_each = repeats(call);
  const std::vector<std::int64_t> own = strides(dims);
  Dims halves;
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    halves.insert(halves.end(), {times_each[i], dims[i]});
    steps.insert(steps.end(), {0, own[i]});
  }
  call.set_elements(0, pick(*call.elements(0), walk(halves, 0, steps)));
}

constexpr Operator kViewOperators[] = {
    {"Expand", expand, fold_expand},
    {"Flatten", flatten, keep_elements},
    {"Reshape", reshape, keep_elements},
    {"Shape", shape_of},
    {"Size", size_of},
    {"Squeeze", squeeze, keep_elements},
    {"Tile", tile, fold_tile},
    {"Transpose", transpose, fold_transpose},
    {"Unsqueeze", unsqueeze, keep_elements},
};

}  // namespace

std::span<const Operator> view_operators() { return kViewOperators; }

}  // namespace stowage::io::onnx::shape
