#include "io/onnx/in_place.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace stowage::io::onnx {
namespace {

/// The inputs that the first output of an operator may overwrite.
enum class Over : std::uint8_t {
  first,     ///< The first; the others are parameters, or read as a whole.
  both,      ///< Either of two; of more, only the first: an implementation may accumulate them one by one.
  selected,  ///< The second and third: the first selects.
};

using Table = std::unordered_map<std::string_view, Over>;

const Table& onnx_operators() {
  static const Table kTable = [] {
    Table table;
    for (const std::string_view unary :
         {"Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cast", "CastLike", "Ceil", "Celu",
          "Clip", "Cos", "Cosh", "Dropout", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish",
          "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu",
          "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
          "ThresholdedRelu", "PRelu", "BatchNormalization",
          // Copies of the first input with some elements replaced.
          "Scatter", "ScatterElements", "ScatterND", "TensorScatter",
          // The same bytes under another shape.
          "Flatten", "Reshape", "Squeeze", "Unsqueeze"})
      table.emplace(unary, Over::first);
    for (const std::string_view binary : {"Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
                                          "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
                                          "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
                                          "Mod",        "Mul",         "Or",       "Pow",        "Sub",
                                          "Sum",        "Xor"})
      table.emplace(binary, Over::both);
    table.emplace("Where", Over::selected);
    return table;
  }();
  return kTable;
}

const Table& microsoft_operators() {
  static const Table kTable = {
      {"BiasGelu", Over::first}, {"FastGelu", Over::first}, {"Gelu", Over::first}, {"QuickGelu", Over::first}};
  return kTable;
}

const Over* rule_of(const Node& node) {
  const bool microsoft = node.domain == "com.microsoft";
  if (!microsoft && !node.domain.empty()) return nullptr;
  const Table& table = microsoft ? microsoft_operators() : onnx_operators();
  const auto found = table.find(node.kind);
  return found == table.end() ? nullptr : &found->second;
}

/// Whether elements correspond one to one and have the same number of bits.
bool is_alike(const Operand& output, const Operand& input) {
  if (!output.facts->is_known() || !input.facts->is_known()) return false;
  return element_bits(output.facts->type) == element_bits(input.facts->type) &&
         element_count(*output.facts->dims) == element_count(*input.facts->dims);
}

/// Whether a batch normalization computes its statistics from the whole input.
bool trains(const Node& node, const Operands& operands) {
  const bool told = node.version < 7 ? node.integer("is_test", 0) == 0 : node.integer("training_mode", 0) != 0;
  return told || operands.output(1) != nullptr;
}

}  // namespace

std::vector<InPlacePair> find_in_place(const Node& node, const Operands& operands) {
  const Over* const over = rule_of(node);
  const Operand* const output = operands.output(0);
  if (over == nullptr || output == nullptr) return {};
  if (node.is("BatchNormalization") && trains(node, operands)) return {};
  const bool two = operands.inputs.size() == 2;
  const std::uint32_t first = *over == Over::selected ? 1 : 0;
  const std::uint32_t end = *over == Over::first || (*over == Over::both && !two) ? 1 : first + 2;
  std::vector<InPlacePair> pairs;
  for (std::uint32_t i = first; i < end; ++i) {
    const Operand* const input = operands.input(i);
    if (input != nullptr && is_alike(*output, *input)) pairs.push_back({0, i});
  }
  return pairs;
}

}  // namespace stowage::io::onnx
