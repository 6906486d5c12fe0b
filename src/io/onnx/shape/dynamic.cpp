#include <algorithm>

#include <fmt/format.h>

#include "io/onnx/shape/dims.hpp"
#include "io/onnx/shape/operators.hpp"

// Operators whose output shapes depend on data, and those on values that are not tensors.
namespace stowage::io::onnx::shape {
namespace {

void depends_on_data(Call& call) { stop(fmt::format("the output of {} depends on data", call.node().kind)); }

/// One column per non-zero element; known for constants.
void non_zero(Call& call) {
  const Elements* const elements = call.elements(0);
  if (elements == nullptr) {
    static_cast<void>(call.dims(0));  // if the input is unknown, that is the better reason
    depends_on_data(call);
  }
  if (call.rank(0) == 0) stop("its input is a scalar");
  const std::int64_t found = std::visit(
      [](const auto& list) { return std::count_if(list.begin(), list.end(), [](auto each) { return each != 0; }); },
      *elements);
  call.set(0, ElementType::int64, {length(call.dims(0)), found});
}

void makes(Call& call, ValueKind kind) {
  call.set_facts(0, {.kind = kind});
  stop(fmt::format("the output of {} is {}", call.node().kind, to_string(kind)));
}

void makes_sequence(Call& call) { makes(call, ValueKind::sequence); }

void makes_optional(Call& call) { makes(call, ValueKind::optional); }

void of_sequence(Call& call) { stop(fmt::format("{} reads a value that is not a tensor", call.node().kind)); }

void sequence_length(Call& call) { call.set(0, ElementType::int64, {}); }

void has_element(Call& call) { call.set(0, ElementType::boolean, {}); }

constexpr Operator kDynamicOperators[] = {
    {"ConcatFromSequence", of_sequence},    {"ImageDecoder", depends_on_data},
    {"NonMaxSuppression", depends_on_data}, {"NonZero", non_zero},
    {"Optional", makes_optional},           {"OptionalGetElement", like_first},
    {"OptionalHasElement", has_element},    {"SequenceAt", of_sequence},
    {"SequenceConstruct", makes_sequence},  {"SequenceEmpty", makes_sequence},
    {"SequenceErase", makes_sequence},      {"SequenceInsert", makes_sequence},
    {"SequenceLength", sequence_length},    {"SequenceMap", makes_sequence},
    {"SplitToSequence", makes_sequence},    {"Unique", depends_on_data},
};

}  // namespace

std::span<const Operator> dynamic_operators() { return kDynamicOperators; }

}  // namespace stowage::io::onnx::shape
