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
       recurrent_operators(), signal_operators(), string_operators(), dynamic_operators(), control_operators()});
  return table;
}

/// Null for a domain without operators that are known.
const Table* find_table(std::string_view domain) {
  static const std::unordered_map<std::string_view, Table> tables = {
      {"ai.onnx.ml", table_of({learned_operators()})},
      {"ai.onnx.preview", table_of({preview_operators()})},
      {"ai.onnx.preview.training", table_of({training_operators()})},
      {"com.microsoft", table_of({contrib_operators(), generation_operators(), contrib_training_operators()})},
  };
  if (domain.empty()) return &onnx_table();
  const auto found = tables.find(domain);
  return found == tables.end() ? nullptr : &found->second;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view kind) {
  const Table* const table = find_table(domain);
  if (table == nullptr) return nullptr;
  const auto found = table->find(kind);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace stowage::io::onnx::shape
