#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators of ONNX Runtime (com.microsoft) that run a whole loop of a language model, and those that leave out the
// padding of a batch. What the models in their attributes need while the loop runs is not part of the graph.
namespace stowage::io::onnx::shape {
namespace {

/// A number that is part of the model, such as the longest result.
std::int64_t positive(const Call& call, std::size_t input) {
  const std::int64_t value = call.integer(input);
  if (value < 1) stop(fmt::format("its input '{}' is {}", call.node().inputs[input], value));
  return value;
}

/// Inputs: prompts, the longest result, the shortest, the number of beams, of results for each prompt, penalties.
/// Outputs: the results, their scores, the scores of all words at each step.
void beam_search(Call& call) {
  constexpr std::size_t kPenalty = 5;
  const std::int64_t longest = positive(call, 1);
  const std::int64_t results = positive(call, 4);
  const ElementType type = call.has(kPenalty) ? call.type(kPenalty) : ElementType::float32;
  call.set(0, ElementType::int32, {call.dim(0, 0), results, longest});
  call.set(1, type, {call.dim(0, 0), results});
  if (call.output_count() < 3) return;
  const std::int64_t words = call.node().integer("vocab_size", -1);
  if (words < 1) stop("it does not say how many words there are");
  call.set(2, type, {minus(longest, call.dim(0, 1)), call.dim(0, 0), positive(call, 3), words});
}

/// Inputs: prompts, the longest result. Outputs: the results, with sampling the scores of the words.
void search(Call& call) {
  call.set(0, ElementType::int32, {call.dim(0, 0), positive(call, 1)});
  if (call.output_count() < 2) return;
  const std::int64_t words = call.node().integer("vocab_size", -1);
  if (words < 1) stop("it does not say how many words there are");
  call.set(1, ElementType::float32, {call.dim(0, 0), words});
}

/// Input: [batch, steps, width]. Outputs: the steps that are none of padding, where they were, where each row begins,
/// the longest row.
void remove_padding(Call& call) {
  const std::int64_t batch = call.dim(0, 0);
  call.set(1, ElementType::int32, {batch, call.dim(0, 1)});
  call.set(2, ElementType::int32, {plus(batch, 1)});
  call.set(3, ElementType::int32, {1});
  stop("the output of RemovePadding depends on data");
}

/// Inputs: [steps of all rows, width], where they were.
void restore_padding(Call& call) {
  if (call.rank(0) != 2 || call.rank(1) != 2)
    stop(fmt::format("its inputs are {} and {}", to_string(call.dims(0)), to_string(call.dims(1))));
  call.set(0, call.type(0), {call.dim(1, 0), call.dim(1, 1), call.dim(0, 1)});
}

constexpr Operator kGenerationOperators[] = {
    {"BeamSearch", beam_search},         {"GreedySearch", search}, {"RemovePadding", remove_padding},
    {"RestorePadding", restore_padding}, {"Sampling", search},
};

}  // namespace

std::span<const Operator> generation_operators() { return kGenerationOperators; }

}  // namespace stowage::io::onnx::shape
