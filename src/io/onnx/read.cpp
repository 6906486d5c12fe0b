#include "io/onnx/read.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "io/onnx/provenance.hpp"
#include "io/onnx/read_context.hpp"
#include "io/onnx/read_tensor.hpp"
#include "io/onnx/wire.hpp"

namespace stowage::io::onnx {
namespace {

std::string read_domain(std::string_view bytes) { return bytes == "ai.onnx" ? std::string() : std::string(bytes); }

/// The version that each domain is imported in.
std::map<std::string, std::int64_t> versions_of(const std::vector<OpsetImport>& imports) {
  std::map<std::string, std::int64_t> versions;
  for (const OpsetImport& import : imports) versions.emplace(import.domain, import.version);
  return versions;
}

/// Sets the operator set version of every node. In a model, the imports come after the graph.
void set_versions(std::vector<Node>& nodes, const std::map<std::string, std::int64_t>& versions) {
  for (Node& node : nodes) {
    const auto found = versions.find(node.domain);
    node.version = found == versions.end() ? 0 : found->second;
    for (Attribute& attribute : node.attributes) {
      for (Graph& graph : attribute.graphs) set_versions(graph.nodes, versions);
    }
  }
}

OpsetImport read_import(std::string_view bytes) {
  OpsetImport import;
  for (Message message(bytes); message.next();) {
    if (message.field() == 1) import.domain = read_domain(message.bytes());
    if (message.field() == 2) import.version = message.integer();
  }
  return import;
}

/// An entry of `metadata_props`.
void read_metadata(std::string_view bytes, Provenance& provenance) {
  std::string_view key;
  std::string_view value;
  for (Message message(bytes); message.next();) {
    if (message.field() == 1) key = message.bytes();
    if (message.field() == 2) value = message.bytes();
  }
  provenance.add(key, value);
}

/// Reads everything that contains nodes; one reader per model.
class ModelReader {
 public:
  explicit ModelReader(ReadContext& context) : context_(context) {}

  Model read(std::string_view bytes);

 private:
  void read_graph(std::string_view bytes, Graph& graph);
  Node read_node(std::string_view bytes);
  Attribute read_attribute(std::string_view bytes);
  bool read_attribute_value(Message& message, Attribute& attribute);
  void check_attribute(Attribute& attribute);
  Function read_function(std::string_view bytes);

  /// Appends an element to `list`, read by `read_one`; `field` names its place in messages.
  template <class Element, class ReadOne>
  void append(std::vector<Element>& list, std::string_view field, const ReadOne& read_one) {
    context_.enter(field, list.size());
    list.push_back(read_one());
    context_.leave();
  }
  TensorInfo read_initializer(std::string_view bytes, bool sparse);
  ValueInfo read_value(std::string_view bytes) { return read_value_info(bytes, context_); }

  ReadContext& context_;
  std::size_t depth_ = 0;
};

TensorInfo ModelReader::read_initializer(std::string_view bytes, bool sparse) {
  TensorInfo tensor = sparse ? read_sparse_tensor(bytes, context_) : read_tensor(bytes, context_);
  if (tensor.name.empty()) ReadContext::fail(ErrorCode::parse, "an initializer without a name");
  return tensor;
}

void ModelReader::read_graph(std::string_view bytes, Graph& graph) {
  if (++depth_ > kMaxGraphDepth)
    ReadContext::fail(ErrorCode::invalid, fmt::format("graphs are nested deeper than {}", kMaxGraphDepth));
  for (Message message(bytes); message.next();) {
    const auto value = [&] { return read_value(message.bytes()); };
    switch (message.field()) {
      case 1:
        append(graph.nodes, "node", [&] { return read_node(message.bytes()); });
        break;
      case 2:
        graph.name = message.bytes();
        break;
      case 5:
        append(graph.initializers, "initializer", [&] { return read_initializer(message.bytes(), false); });
        break;
      case 11:
        append(graph.inputs, "input", value);
        break;
      case 12:
        append(graph.outputs, "output", value);
        break;
      case 13:
        append(graph.value_infos, "value_info", value);
        break;
      case 15:
        append(graph.initializers, "initializer", [&] { return read_initializer(message.bytes(), true); });
        break;
      default:
        break;
    }
  }
  --depth_;
}

Node ModelReader::read_node(std::string_view bytes) {
  Node node;
  Provenance provenance;
  for (Message message(bytes); message.next();) {
    switch (message.field()) {
      case 1:
        node.inputs.emplace_back(message.bytes());
        break;
      case 2:
        node.outputs.emplace_back(message.bytes());
        break;
      case 3:
        node.name = message.bytes();
        break;
      case 4:
        node.kind = message.bytes();
        break;
      case 5:
        if (node.attributes.empty()) context_.describe(describe(node));
        append(node.attributes, "attribute", [&] { return read_attribute(message.bytes()); });
        break;
      case 7:
        node.domain = read_domain(message.bytes());
        break;
      case 8:
        node.overload = message.bytes();
        break;
      case 9:
        read_metadata(message.bytes(), provenance);
        break;
      default:
        break;
    }
  }
  node.layer = provenance.layer();
  node.source = provenance.source();
  context_.describe(describe(node));
  if (node.kind.empty()) ReadContext::fail(ErrorCode::parse, "a node without op_type");
  return node;
}

/// False if the field is not a value.
bool ModelReader::read_attribute_value(Message& message, Attribute& attribute) {
  const auto add_graph = [&] {
    append(attribute.graphs, "graph", [&] {
      Graph graph;
      read_graph(message.bytes(), graph);
      return graph;
    });
  };
  switch (message.field()) {
    case 2:
      attribute.real = static_cast<double>(message.float32());
      return true;
    case 3:
      attribute.integer = message.integer();
      return true;
    case 4:
      attribute.text = message.bytes();
      return true;
    case 5:
    case 10:
      append(attribute.tensors, "tensor", [&] { return read_tensor(message.bytes(), context_); });
      return true;
    case 6:
    case 11:
      add_graph();
      return true;
    case 7:
      message.floats32(attribute.reals);
      return true;
    case 8:
      message.integers(attribute.integers);
      return true;
    case 9:
      attribute.texts.emplace_back(message.bytes());
      return true;
    case 22:
    case 23:
      append(attribute.tensors, "tensor", [&] { return read_sparse_tensor(message.bytes(), context_); });
      return true;
    default:
      return false;
  }
}

Attribute ModelReader::read_attribute(std::string_view bytes) {
  Attribute attribute;
  std::int64_t type = 0;
  for (Message message(bytes); message.next();) {
    if (read_attribute_value(message, attribute)) continue;
    if (message.field() == 1) attribute.name = message.bytes();
    if (message.field() == 20) type = message.integer();
    if (message.field() == 21) attribute.reference = message.bytes();
  }
  if (type < 0 || type > static_cast<std::int64_t>(Attribute::Type::type_protos))
    ReadContext::fail(ErrorCode::parse, fmt::format("attribute '{}' has the unknown type {}", attribute.name, type));
  attribute.type = static_cast<Attribute::Type>(type);
  check_attribute(attribute);
  return attribute;
}

/// Checks that the content matches the type, so that later code need not check.
void ModelReader::check_attribute(Attribute& attribute) {
  using Type = Attribute::Type;
  if (attribute.name.empty()) ReadContext::fail(ErrorCode::parse, "an attribute without a name");
  if (!attribute.reference.empty()) return;
  const bool one_tensor = attribute.type == Type::tensor || attribute.type == Type::sparse_tensor;
  if (one_tensor && attribute.tensors.size() != 1)
    ReadContext::fail(ErrorCode::parse,
                      fmt::format("attribute '{}' is a tensor, but has {}", attribute.name, attribute.tensors.size()));
  if (attribute.type == Type::graph && attribute.graphs.size() != 1)
    ReadContext::fail(ErrorCode::parse,
                      fmt::format("attribute '{}' is a graph, but has {}", attribute.name, attribute.graphs.size()));
}

Function ModelReader::read_function(std::string_view bytes) {
  Function function;
  std::vector<OpsetImport> imports;
  for (Message message(bytes); message.next();) {
    switch (message.field()) {
      case 1:
        function.name = message.bytes();
        context_.describe(fmt::format("function '{}'", function.name));
        break;
      case 4:
        function.inputs.emplace_back(message.bytes());
        break;
      case 5:
        function.outputs.emplace_back(message.bytes());
        break;
      case 6:
        function.attributes.emplace_back(message.bytes());
        break;
      case 7:
        append(function.nodes, "node", [&] { return read_node(message.bytes()); });
        break;
      case 9:
        imports.push_back(read_import(message.bytes()));
        break;
      case 10:
        function.domain = read_domain(message.bytes());
        break;
      case 11:
        append(function.defaults, "attribute_proto", [&] { return read_attribute(message.bytes()); });
        break;
      case 12:
        append(function.value_infos, "value_info", [&] { return read_value(message.bytes()); });
        break;
      case 13:
        function.overload = message.bytes();
        break;
      default:
        break;
    }
  }
  if (function.name.empty()) ReadContext::fail(ErrorCode::parse, "a function without a name");
  set_versions(function.nodes, versions_of(imports));
  return function;
}

Model ModelReader::read(std::string_view bytes) {
  Model model;
  bool has_graph = false;
  for (Message message(bytes); message.next();) {
    switch (message.field()) {
      case 1:
        model.ir_version = message.integer();
        break;
      case 7:
        context_.enter("graph");
        read_graph(message.bytes(), model.graph);  // a repeated field is merged, as in protobuf
        context_.leave();
        has_graph = true;
        break;
      case 8:
        model.imports.push_back(read_import(message.bytes()));
        break;
      case 25:
        append(model.functions, "functions", [&] { return read_function(message.bytes()); });
        break;
      default:
        break;
    }
  }
  if (!has_graph) ReadContext::fail(ErrorCode::parse, "not an ONNX model: it contains no graph");
  set_versions(model.graph.nodes, versions_of(model.imports));
  return model;
}

std::string_view reason(const protozero::exception& exception) {
  if (dynamic_cast<const protozero::end_of_buffer_exception*>(&exception) != nullptr)
    return "the data ends inside a field; the file is truncated or not an ONNX model";
  return "these bytes are not a protobuf message; the file is damaged or not an ONNX model";
}

}  // namespace

Result<Model> read_model(std::string_view bytes, const std::string& file) {
  ReadContext context;
  try {
    return ModelReader(context).read(bytes);
  } catch (const protozero::exception& exception) {
    return context.fault_at(file, ErrorCode::parse, std::string(reason(exception)));
  } catch (const Message::WrongType& wrong) {
    return context.fault_at(
        file, ErrorCode::parse,
        fmt::format("field {} has another wire type than in ONNX; this may not be an ONNX model", wrong.field));
  } catch (const ReadContext::Fault& fault) {
    return context.fault_at(file, fault.code, fault.message);
  }
}

}  // namespace stowage::io::onnx
