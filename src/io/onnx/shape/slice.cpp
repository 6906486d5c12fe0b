#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators that slice, pad, split and concatenate tensors.
namespace stowage::io::onnx::shape {
namespace {

/// The range of a slice in one dimension.
struct Cut {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// Negative positions count from the end. Positions are clamped to [0, size] forwards, and backwards to [0, size - 1],
/// or [-1, size - 1] for an end.
Cut cut_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) stop("it steps by 0");
  // By the standard it is clamped like others, so the slice is empty; runtimes treat it as the end of the dimension.
  const bool disputed =
      end == std::numeric_limits<std::int32_t>::max() || end == std::numeric_limits<std::int64_t>::max();
  if (step < 0 && disputed) stop(fmt::format("runtimes differ about slicing backwards to {}", end));
  if (size == 0) return {};
  // A step that cannot be negated leaves the tensor at once, as does the next larger one.
  step = std::max(step, -std::numeric_limits<std::int64_t>::max());
  const std::int64_t highest = step > 0 ? size : size - 1;
  const auto place = [&](std::int64_t value, std::int64_t lowest) {
    return std::clamp(value < 0 ? value + size : value, lowest, highest);
  };
  const std::int64_t first = place(start, 0);
  const std::int64_t last = place(end, step > 0 ? 0 : -1);
  const std::int64_t distance = step > 0 ? last - first : first - last;
  return {.start = first, .step = step, .count = distance <= 0 ? 0 : divide_up(distance, std::abs(step))};
}

/// The parameters of a Slice node; attributes became inputs with version 10.
struct SliceSpec {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
};

SliceSpec slice_spec(const Call& call) {
  if (call.version() < 10) return {call.list("starts"), call.list("ends"), call.list("axes"), {}};
  SliceSpec spec{call.integers(1), call.integers(2), {}, {}};
  if (call.has(3)) spec.axes = call.integers(3);
  if (call.has(4)) spec.steps = call.integers(4);
  return spec;
}

std::vector<Cut> cuts_of(const Call& call) {
  SliceSpec spec = slice_spec(call);
  const Dims& dims = call.dims(0);
  const std::size_t count = spec.starts.size();
  if (count > dims.size()) stop(fmt::format("it cuts {} dims of {}", count, dims.size()));
  if (spec.axes.empty()) {
    spec.axes.resize(count);
    std::iota(spec.axes.begin(), spec.axes.end(), 0);
  }
  if (spec.steps.empty()) spec.steps.assign(count, 1);
  if (spec.ends.size() != count || spec.axes.size() != count || spec.steps.size() != count)
    stop("its starts, ends, axes and steps have different lengths");
  static_cast<void>(marked_axes(spec.axes, dims.size()));
  std::vector<Cut> cuts;
  for (const std::int64_t dim : dims) cuts.push_back({.count = dim});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = normal_axis(spec.axes[i], dims.size());
    cuts[axis] = cut_of(dims[axis], spec.starts[i], spec.ends[i], spec.steps[i]);
  }
  return cuts;
}

void slice(Call& call) {
  Dims dims;
  for (const Cut& cut : cuts_of(call)) dims.push_back(cut.count);
  call.set(0, call.type(0), std::move(dims));
}

void fold_slice(Call& call) {
  const std::vector<std::int64_t> own = strides(call.dims(0));
  const std::vector<Cut> cuts = cuts_of(call);
  std::int64_t start = 0;
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    start = plus(start, times(cuts[i].start, own[i]));
    steps.push_back(cuts[i].count > 1 ? times(cuts[i].step, own[i]) : 0);  // the step of a single element is irrelevant
  }
  call.set_elements(0, pick(*call.elements(0), walk(*call.output(0).dims, start, steps)));
}

/// Parts of equal size except for the last; before version 18 all had to be equal.
std::vector<std::int64_t> equal_parts(const Call& call, std::int64_t size) {
  const std::int64_t parts = call.node().integer("num_outputs", length(call.node().outputs));
  if (parts != length(call.node().outputs))
    stop(fmt::format("it has {} outputs, not {}", length(call.node().outputs), parts));
  if (call.version() < 18 && size % parts != 0)
    stop(fmt::format("{} elements cannot be split into {} equal parts", size, parts));
  const std::int64_t part = divide_up(size, parts);
  std::vector<std::int64_t> result(call.node().outputs.size(), part);
  result.back() = minus(size, times(part, parts - 1));
  return result;
}

/// Sizes became an input with version 13; version 1 accepted either.
std::vector<std::int64_t> parts_of(const Call& call, std::int64_t size) {
  std::vector<std::int64_t> parts = call.list("split");
  if (call.version() >= 13 || call.version() < 2) {
    if (call.has(1)) parts = call.integers(1);
  }
  if (parts.empty()) return equal_parts(call, size);
  if (parts.size() != call.node().outputs.size())
    stop(fmt::format("it has {} outputs, for {} parts", call.node().outputs.size(), parts.size()));
  std::int64_t sum = 0;
  for (const std::int64_t part : parts) sum = plus(sum, part);
  if (sum != size) stop(fmt::format("its parts {} do not sum to {}", to_string(parts), size));
  return parts;
}

void split(Call& call) {
  if (call.node().outputs.empty()) return;
  Dims dims = call.dims(0);
  const std::size_t axis = normal_axis(call.node().integer("axis", 0), dims.size());
  const std::vector<std::int64_t> parts = parts_of(call, dims[axis]);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    dims[axis] = parts[i];
    call.set(i, call.type(0), dims);
  }
}

void fold_split(Call& call) {
  const std::size_t axis = normal_axis(call.node().integer("axis", 0), call.rank(0));
  const std::vector<std::int64_t> steps = strides(call.dims(0));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    const Dims& dims = *call.output(i).dims;
    call.set_elements(i, pick(*call.elements(0), walk(dims, start, steps)));
    start += dims[axis] * steps[axis];
  }
}

/// The axis has no default since version 4.
std::size_t concat_axis(const Call& call) {
  if (call.version() >= 4 && call.node().find("axis") == nullptr) stop("it has no axis");
  return normal_axis(call.node().integer("axis", 1), call.rank(0));
}

void concat(Call& call) {
  Dims dims = call.dims(0);
  const std::size_t axis = concat_axis(call);
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    Dims next = call.dims(i);
    if (next.size() != dims.size()) stop(fmt::format("{} and {} cannot be joined", to_string(dims), to_string(next)));
    const std::int64_t sum = plus(dims[axis], next[axis]);
    next[axis] = dims[axis];
    if (next != dims) stop(fmt::format("{} and {} cannot be joined", to_string(dims), to_string(call.dims(i))));
    dims[axis] = sum;
  }
  call.set(0, call.type(0), std::move(dims));
}

template <class T>
std::vector<T> joined(const Call& call, std::size_t axis) {
  const std::span<const std::int64_t> dims(*call.output(0).dims);
  std::vector<T> result;
  if (count(dims) == 0) return result;
  const std::int64_t outer = count(dims.first(axis));
  for (std::int64_t row = 0; row < outer; ++row) {
    for (std::size_t i = 0; i < call.input_count(); ++i) {
      const auto& from = std::get<std::vector<T>>(*call.elements(i));
      const std::int64_t width = length(from) / outer;
      result.insert(result.end(), from.begin() + row * width, from.begin() + (row + 1) * width);
    }
  }
  return result;
}

void fold_concat(Call& call) {
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    if (call.elements(i)->index() != call.elements(0)->index()) return;
  }
  const std::size_t axis = concat_axis(call);
  std::visit([&]<class T>(const std::vector<T>&) { call.set_elements(0, joined<T>(call, axis)); }, *call.elements(0));
}

/// Pads became an input with version 11; axes were added with version 18.
std::vector<std::int64_t> pads_of(const Call& call) {
  if (call.version() >= 11) return call.integers(1);
  return call.list(call.version() < 2 ? "paddings" : "pads");
}

void pad(Call& call) {
  Dims dims = call.dims(0);
  const std::vector<std::int64_t> pads = pads_of(call);
  std::vector<std::int64_t> axes(dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (call.version() >= 18 && call.has(3)) axes = call.integers(3);
  if (pads.size() != 2 * axes.size()) stop(fmt::format("it has {} pads, for {} dims", pads.size(), axes.size()));
  static_cast<void>(marked_axes(axes, dims.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& dim = dims[normal_axis(axes[i], dims.size())];
    dim = plus(dim, plus(pads[i], pads[axes.size() + i]));
  }
  call.set(0, call.type(0), std::move(dims));
}

void center_crop_pad(Call& call) {
  Dims dims = call.dims(0);
  const std::vector<std::int64_t>& shape = call.integers(1);
  std::vector<std::int64_t> axes = call.list("axes");
  if (call.node().integers("axes") == nullptr) {
    axes.resize(dims.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (shape.size() != axes.size()) stop(fmt::format("it has {} sizes, for {} dims", shape.size(), axes.size()));
  static_cast<void>(marked_axes(axes, dims.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) dims[normal_axis(axes[i], dims.size())] = shape[i];
  call.set(0, call.type(0), std::move(dims));
}

constexpr Operator kSliceOperators[] = {
    {"CenterCropPad", center_crop_pad}, {"Concat", concat, fold_concat}, {"Pad", pad},
    {"Slice", slice, fold_slice},       {"Split", split, fold_split},
};

}  // namespace

std::span<const Operator> slice_operators() { return kSliceOperators; }

}  // namespace stowage::io::onnx::shape
