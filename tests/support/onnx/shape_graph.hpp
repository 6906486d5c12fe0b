#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/onnx/shape/infer.hpp"

/// Small models for tests of shape inference, as values.
namespace stowage::io::onnx::testing {

inline ValueInfo tensor_value(std::string name, ElementType type, const Dims& dims) {
  ValueInfo info{.name = std::move(name), .kind = ValueKind::tensor, .type = type, .shape = std::vector<Dim>()};
  for (const std::int64_t dim : dims) info.shape->push_back({.value = dim, .param = {}});
  return info;
}

inline ValueInfo float_value(std::string name, const Dims& dims) {
  return tensor_value(std::move(name), ElementType::float32, dims);
}

/// A tensor with one named dimension, in front of others.
inline ValueInfo named_value(std::string name, std::string param, const Dims& dims) {
  ValueInfo info = float_value(std::move(name), dims);
  info.shape->insert(info.shape->begin(), Dim{.value = {}, .param = std::move(param)});
  return info;
}

inline TensorInfo integers(std::string name, std::vector<std::int64_t> values) {
  return {.name = std::move(name),
          .type = ElementType::int64,
          .dims = {static_cast<std::int64_t>(values.size())},
          .elements = std::move(values)};
}

inline TensorInfo integer(std::string name, std::int64_t value) {
  return {
      .name = std::move(name), .type = ElementType::int64, .dims = {}, .elements = std::vector<std::int64_t>{value}};
}

inline TensorInfo reals(std::string name, std::vector<double> values) {
  return {.name = std::move(name),
          .type = ElementType::float32,
          .dims = {static_cast<std::int64_t>(values.size())},
          .elements = std::move(values)};
}

inline Attribute attribute(std::string name, std::int64_t value) {
  Attribute result;
  result.name = std::move(name);
  result.type = Attribute::Type::integer;
  result.integer = value;
  return result;
}

/// For literals, where 0 could be a pointer.
inline Attribute attribute(std::string name, int value) { return attribute(std::move(name), std::int64_t{value}); }

inline Attribute attribute(std::string name, std::vector<std::int64_t> values) {
  Attribute result;
  result.name = std::move(name);
  result.type = Attribute::Type::integers;
  result.integers = std::move(values);
  return result;
}

inline Attribute attribute(std::string name, const char* value) {
  Attribute result;
  result.name = std::move(name);
  result.type = Attribute::Type::string;
  result.text = value;
  return result;
}

inline Attribute attribute(std::string name, TensorInfo value) {
  Attribute result;
  result.name = std::move(name);
  result.type = Attribute::Type::tensor;
  result.tensors.push_back(std::move(value));
  return result;
}

inline Attribute attribute(std::string name, Graph value) {
  Attribute result;
  result.name = std::move(name);
  result.type = Attribute::Type::graph;
  result.graphs.push_back(std::move(value));
  return result;
}

/// A node of version 18, without a name.
inline Node operation(std::string kind, std::vector<std::string> inputs, std::vector<std::string> outputs,
                      std::vector<Attribute> attributes = {}) {
  Node node;
  node.kind = std::move(kind);
  node.version = 18;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

inline Node with_version(std::int64_t version, Node node) {
  node.version = version;
  return node;
}

/// Facts of the main graph, where nothing contradicts.
inline GraphFacts facts_of(const Graph& graph, const std::map<std::string, std::int64_t>& dims = {}) {
  Model model;
  model.graph = graph;
  return infer(model, dims, "m.onnx").value().at(&model.graph);
}

/// "float32 [2, 3]", or the reason why that is not known.
inline std::string describe(const ValueFacts& facts) {
  if (!facts.is_known()) return facts.reason;
  std::string text = std::string(to_string(facts.type)) + " [";
  for (std::size_t i = 0; i < facts.dims->size(); ++i) text += (i > 0 ? ", " : "") + std::to_string((*facts.dims)[i]);
  return text + "]";
}

/// Inputs and initializers of a graph that has one node.
struct Setting {
  std::vector<ValueInfo> inputs;
  std::vector<TensorInfo> constants;
};

/// What that node's outputs are, joined by ", "; where it needs `constants`, it finds them by name.
inline std::string outputs_of(const Node& node, Setting setting) {
  Graph graph;
  graph.nodes = {node};
  graph.inputs = std::move(setting.inputs);
  graph.initializers = std::move(setting.constants);
  const GraphFacts facts = facts_of(graph);
  std::string text;
  for (const std::string& output : node.outputs) {
    if (!output.empty()) text += (text.empty() ? "" : ", ") + describe(facts.at(output));
  }
  return text;
}

}  // namespace stowage::io::onnx::testing
