#include "io/onnx/model.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage::io::onnx {
namespace {

const Attribute* find_typed(const Node& node, std::string_view name, Attribute::Type type) {
  const Attribute* const found = node.find(name);
  return found != nullptr && found->type == type ? found : nullptr;
}

}  // namespace

std::string_view to_string(ValueKind kind) {
  switch (kind) {
    case ValueKind::unknown:
      return "of unknown type";
    case ValueKind::tensor:
      return "a tensor";
    case ValueKind::sparse_tensor:
      return "a sparse tensor";
    case ValueKind::sequence:
      return "a sequence";
    case ValueKind::map:
      return "a map";
    case ValueKind::optional:
      return "an optional";
    case ValueKind::opaque:
      return "opaque";
  }
  return "of unknown type";
}

const Attribute* Node::find(std::string_view attribute) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

std::int64_t Node::integer(std::string_view attribute, std::int64_t otherwise) const {
  const Attribute* const found = find_typed(*this, attribute, Attribute::Type::integer);
  return found != nullptr ? found->integer : otherwise;
}

std::string_view Node::text(std::string_view attribute, std::string_view otherwise) const {
  const Attribute* const found = find_typed(*this, attribute, Attribute::Type::string);
  return found != nullptr ? std::string_view(found->text) : otherwise;
}

const std::vector<std::int64_t>* Node::integers(std::string_view attribute) const {
  const Attribute* const found = find_typed(*this, attribute, Attribute::Type::integers);
  return found != nullptr ? &found->integers : nullptr;
}

const TensorInfo* Node::tensor(std::string_view attribute) const {
  const Attribute* found = find_typed(*this, attribute, Attribute::Type::tensor);
  if (found == nullptr) found = find_typed(*this, attribute, Attribute::Type::sparse_tensor);
  return found != nullptr ? &found->tensors.front() : nullptr;
}

const Graph* Node::graph(std::string_view attribute) const {
  const Attribute* const found = find_typed(*this, attribute, Attribute::Type::graph);
  return found != nullptr ? &found->graphs.front() : nullptr;
}

std::string describe(const Node& node) {
  std::string_view name = node.name;
  if (name.empty()) {
    const auto output =
        std::find_if(node.outputs.begin(), node.outputs.end(), [](const std::string& o) { return !o.empty(); });
    if (output != node.outputs.end()) name = *output;
  }
  return fmt::format("node '{}' ({})", name, node.kind);
}

}  // namespace stowage::io::onnx
