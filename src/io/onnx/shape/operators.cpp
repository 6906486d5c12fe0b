#include "io/onnx/shape/operators.hpp"

#include <unordered_map>

namespace stowage::io::onnx::shape {
namespace {

using Table = std::unordered_map<std::string_view, const Operator*>;

Table table_of(std::initializer_list<std::span<const Operator>> families) {
  Table table;
  for (const std::span<const Operator> family : families) {
    for (const Operator& each : family) table.emplace(each.kind, &each);
  }
  return table;
}

const Table& onnx_table() {
  static const Table table = table_of(
      {elementwise_operators(), broadcast_operators(), reduction_operators(), view_operators(), slice_operators(),
       gather_operators(), generator_operators(), product_operators(), convolution_operators(), pool_operators(),
       image_operators(), normalization_operators(), attention_operators(), quantization_operators(),
       recurrent_operators(), signal_operators(), dynamic_operators(), control_operators()});
  return table;
}

const Table& contrib_table() {
  static const Table table = table_of({contrib_operators()});
  return table;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view kind) {
  if (!domain.empty() && domain != "com.microsoft") return nullptr;
  const Table& table = domain.empty() ? onnx_table() : contrib_table();
  const auto found = table.find(kind);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace stowage::io::onnx::shape
