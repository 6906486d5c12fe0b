#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators on words and characters.
namespace stowage::io::onnx::shape {
namespace {

void normalize(Call& call) {
  static_cast<void>(call.dims(0));
  stop("the output of StringNormalizer depends on data");
}

/// Outputs: the parts, of which the longest text has most; the number of parts of each text.
void string_split(Call& call) {
  call.set(1, ElementType::int64, call.dims(0));
  stop("the output of StringSplit depends on data");
}

/// One number for each sequence of words that is counted: the last dimension, one more than the largest index.
void count_sequences(Call& call) {
  const std::vector<std::int64_t> indexes = call.list("ngram_indexes");
  Dims dims = call.dims(0);
  if (dims.size() != 1 && dims.size() != 2) stop(fmt::format("its input is {}", to_string(dims)));
  if (indexes.empty()) stop("it does not say what it counts");
  dims.back() = plus(*std::max_element(indexes.begin(), indexes.end()), 1);
  call.set(0, ElementType::float32, std::move(dims));
}

constexpr Operator kStringOperators[] = {
    {"StringNormalizer", normalize},
    {"StringSplit", string_split},
    {"TfIdfVectorizer", count_sequences},
};

}  // namespace

std::span<const Operator> string_operators() { return kStringOperators; }

}  // namespace stowage::io::onnx::shape
