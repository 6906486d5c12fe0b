#include "io/onnx/shape/product.hpp"

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/einsum.hpp"
#include "io/onnx/shape/operators.hpp"

// Products of matrices.
namespace stowage::io::onnx::shape {
namespace {

void mat_mul(Call& call) { call.set(0, call.type(0), product_dims(call.dims(0), call.dims(1))); }

void mat_mul_integer(Call& call) { call.set(0, ElementType::int32, product_dims(call.dims(0), call.dims(1))); }

/// Inputs: a with scale and zero point, b with scale and zero point, scale and zero point of the result.
void q_linear_mat_mul(Call& call) { call.set(0, call.type(7), product_dims(call.dims(0), call.dims(3))); }

void gemm(Call& call) { call.set(0, call.type(0), gemm_dims(call, 0, 1)); }

void einsum(Call& call) {
  std::vector<Dims> operands;
  for (std::size_t i = 0; i < call.input_count(); ++i) operands.push_back(call.dims(i));
  call.set(0, call.type(0), einsum_dims(call.node().text("equation", ""), operands));
}

void determinant(Call& call) {
  const Dims& dims = call.dims(0);
  if (dims.size() < 2) stop("its input is not a matrix");
  call.set(0, call.type(0), Dims(dims.begin(), dims.end() - 2));
}

constexpr Operator kProductOperators[] = {
    {"Det", determinant},
    {"Einsum", einsum},
    {"Gemm", gemm},
    {"MatMul", mat_mul},
    {"MatMulInteger", mat_mul_integer},
    {"QLinearMatMul", q_linear_mat_mul},
};

}  // namespace

Dims product_dims(Dims a, Dims b) {
  const std::string shapes = fmt::format("{} and {}", to_string(a), to_string(b));
  if (a.empty() || b.empty()) stop(fmt::format("{} cannot be multiplied", shapes));
  // A vector is a row on the left and a column on the right; its extra dimension is dropped from the result.
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const std::int64_t rows = a[a.size() - 2];
  const std::int64_t columns = b.back();
  if (a.back() != b[b.size() - 2]) stop(fmt::format("{} cannot be multiplied", shapes));
  Dims result = broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!row) result.push_back(rows);
  if (!column) result.push_back(columns);
  return result;
}

Dims gemm_dims(const Call& call, std::size_t a, std::size_t b) {
  Dims left = call.dims(a);
  Dims right = call.dims(b);
  if (left.size() != 2 || right.size() != 2)
    stop(fmt::format("{} and {} are not two matrices", to_string(left), to_string(right)));
  if (call.node().integer("transA", 0) != 0) std::swap(left[0], left[1]);
  if (call.node().integer("transB", 0) != 0) std::swap(right[0], right[1]);
  return product_dims(std::move(left), std::move(right));
}

std::span<const Operator> product_operators() { return kProductOperators; }

}  // namespace stowage::io::onnx::shape
