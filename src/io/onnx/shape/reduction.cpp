#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/fold.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators that reduce many elements to one, along some axes.
namespace stowage::io::onnx::shape {
namespace {

/// Axes became an input of ReduceSum with version 13, of the others with version 18.
std::vector<std::int64_t> given_axes(const Call& call) {
  if (call.version() < (call.node().kind == "ReduceSum" ? 13 : 18)) return call.list("axes");
  return call.has(1) ? call.integers(1) : std::vector<std::int64_t>();
}

/// The dimensions that are reduced. Without axes these are all, unless the node says otherwise.
std::vector<bool> reduced_axes(const Call& call) {
  const std::vector<std::int64_t> axes = given_axes(call);
  if (!axes.empty()) return marked_axes(axes, call.rank(0));
  return std::vector<bool>(call.rank(0), call.node().integer("noop_with_empty_axes", 0) == 0);
}

Dims without(const Dims& dims, const std::vector<bool>& reduced, bool keep) {
  Dims result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(dims[i]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

void reduce(Call& call) {
  call.set(0, call.type(0), without(call.dims(0), reduced_axes(call), call.node().integer("keepdims", 1) != 0));
}

void arg_extreme(Call& call) {
  std::vector<bool> reduced(call.rank(0));
  reduced[normal_axis(call.node().integer("axis", 0), call.rank(0))] = true;
  call.set(0, ElementType::int64, without(call.dims(0), reduced, call.node().integer("keepdims", 1) != 0));
}

/// K became an input with version 10.
void top_k(Call& call) {
  Dims dims = call.dims(0);
  const std::size_t axis = normal_axis(call.node().integer("axis", -1), dims.size());
  const std::int64_t k = call.version() < 10 ? call.node().integer("k", -1) : call.integer(1);
  if (k < 0 || k > dims[axis]) stop(fmt::format("k is {}, but there are {} elements", k, dims[axis]));
  dims[axis] = k;
  call.set(0, call.type(0), dims);
  call.set(1, ElementType::int64, std::move(dims));
}

/// A loss for each element, or one for all of them.
void loss(Call& call) {
  const bool each = call.node().text("reduction", "mean") == "none";
  call.set(0, call.type(0), each ? call.dims(1) : Dims());
  call.set(1, call.type(0), call.dims(0));  // the logarithms, if they are an output
}

struct Sum {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return plus(a, b); }
};

struct Multiply {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return times(a, b); }
};

struct Lower {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return std::min(a, b); }
};

struct Higher {
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return std::max(a, b); }
};

/// Integers only: sums of real numbers depend on the order, which the runtime chooses.
template <class F>
void fold_reduce(Call& call) {
  const std::vector<std::int64_t>& from = call.integers(0);
  const std::vector<bool> reduced = reduced_axes(call);
  const Dims kept = without(call.dims(0), reduced, true);
  std::vector<std::int64_t> steps = strides(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) steps[i] = reduced[i] ? 0 : steps[i];
  std::vector<std::optional<std::int64_t>> results(static_cast<std::size_t>(count(kept)));
  const std::vector<std::int64_t> places = walk(call.dims(0), 0, steps);
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::optional<std::int64_t>& result = results[static_cast<std::size_t>(places[i])];
    result = result ? F()(*result, from[i]) : from[i];
  }
  std::vector<std::int64_t> elements;
  for (const std::optional<std::int64_t>& result : results) {
    if (!result) return;  // no elements
    elements.push_back(as_element(call.type(0), *result));
  }
  call.set_elements(0, std::move(elements));
}

/// An empty product is 1: models compute the product of a scalar's dims.
void fold_product(Call& call) {
  if (call.integers(0).empty() && count(*call.output(0).dims) == 1)
    return call.set_elements(0, std::vector<std::int64_t>{1});
  fold_reduce<Multiply>(call);
}

constexpr Operator kReductionOperators[] = {
    {"ArgMax", arg_extreme},
    {"ArgMin", arg_extreme},
    {"NegativeLogLikelihoodLoss", loss},
    {"ReduceL1", reduce},
    {"ReduceL2", reduce},
    {"ReduceLogSum", reduce},
    {"ReduceLogSumExp", reduce},
    {"ReduceMax", reduce, fold_reduce<Higher>},
    {"ReduceMean", reduce},
    {"ReduceMin", reduce, fold_reduce<Lower>},
    {"ReduceProd", reduce, fold_product},
    {"ReduceSum", reduce, fold_reduce<Sum>},
    {"ReduceSumSquare", reduce},
    {"SoftmaxCrossEntropyLoss", loss},
    {"TopK", top_k},
};

}  // namespace

std::span<const Operator> reduction_operators() { return kReductionOperators; }

}  // namespace stowage::io::onnx::shape
