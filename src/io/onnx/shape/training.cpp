#include <fmt/format.h>

#include "io/onnx/shape/operators.hpp"

// One step of an optimizer, the domain ai.onnx.preview.training. Inputs: learning rate, number of the step, then lists
// of equal length: the tensors, their gradients, and one or two lists of what the optimizer keeps. Outputs: the new
// tensors, then what it keeps.
namespace stowage::io::onnx::shape {
namespace {

/// `kept` is the number of lists that the optimizer keeps.
void step(Call& call, std::size_t kept) {
  const std::size_t lists = kept + 2;
  if (call.input_count() < 2 + lists || (call.input_count() - 2) % lists != 0)
    stop(fmt::format("its inputs are not {} lists of equal length", lists));
  const std::size_t count = (call.input_count() - 2) / lists;
  for (std::size_t i = 0; i < count * (1 + kept); ++i) {
    const std::size_t input = 2 + (i < count ? i : i + count);  // gradients are read only
    call.set(i, call.type(input), call.dims(input));
  }
}

void keeps_one(Call& call) { step(call, 1); }
void keeps_two(Call& call) { step(call, 2); }

constexpr Operator kTrainingOperators[] = {{"Adagrad", keeps_one}, {"Adam", keeps_two}, {"Momentum", keeps_one}};

}  // namespace

std::span<const Operator> training_operators() { return kTrainingOperators; }

}  // namespace stowage::io::onnx::shape
