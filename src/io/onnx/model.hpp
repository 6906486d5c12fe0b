#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/onnx/element_type.hpp"

/// The parts of an ONNX model that we read, as plain values: everything that determines the sizes and lifetimes of
/// tensors, without the weights.
namespace stowage::io::onnx {

using Dims = std::vector<std::int64_t>;

/// Elements of a tensor in their order: integers and booleans as int64, floating-point numbers as double.
using Elements = std::variant<std::vector<std::int64_t>, std::vector<double>>;

/// Elements are kept for tensors with up to this many of them, which is enough for shape arithmetic.
inline constexpr std::size_t kMaxKeptElements = 4096;

/// A tensor in the file: an initializer, or an attribute's value.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::undefined;  ///< Never undefined once read.
  Dims dims;                                  ///< Each >= 0, and their `tensor_size` exists (except for strings).
  /// The elements, if the file itself has them, there are at most `kMaxKeptElements`, and the type is an integer, bool,
  /// float16, float32 or float64.
  std::optional<Elements> elements;
  bool external = false;  ///< Its data is in another file, which is never opened.
  bool sparse = false;    ///< Stored as indices and values; `dims` are those of the dense tensor.
};

/// One dimension of a type: a number, a symbolic name, or neither if it is unknown.
struct Dim {
  std::optional<std::int64_t> value;  ///< >= 0
  std::string param;
};

enum class ValueKind : std::uint8_t { unknown, tensor, sparse_tensor, sequence, map, optional, opaque };

/// "a sequence": for messages.
[[nodiscard]] std::string_view to_string(ValueKind kind);

/// A name and what the file says about its type.
struct ValueInfo {
  std::string name;
  ValueKind kind = ValueKind::unknown;
  ElementType type = ElementType::undefined;   ///< Of a tensor.
  std::optional<std::vector<Dim>> shape = {};  ///< Of a tensor. Absent: not even its rank is known.
};

struct Graph;

/// A named parameter of a node. `type` says which members are used; the others are empty.
struct Attribute {
  enum class Type : std::uint8_t {
    undefined = 0,
    real = 1,
    integer = 2,
    string = 3,
    tensor = 4,
    graph = 5,
    reals = 6,
    integers = 7,
    strings = 8,
    tensors = 9,
    graphs = 10,
    sparse_tensor = 11,
    sparse_tensors = 12,
    type_proto = 13,
    type_protos = 14,
  };

  std::string name;
  Type type = Type::undefined;
  /// Inside a function: the attribute of the call that has the value. Empty: this attribute has it.
  std::string reference;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  std::vector<TensorInfo> tensors;  ///< One for `tensor` and `sparse_tensor`.
  std::vector<Graph> graphs;        ///< One for `graph`.
};

/// An operation of a graph.
struct Node {
  std::string name;    ///< May be empty, and need not be unique.
  std::string kind;    ///< op_type; never empty.
  std::string domain;  ///< Empty for ONNX's own operators ("ai.onnx" is read as that).
  std::string overload;
  std::int64_t version = 0;          ///< The version of the operator set imported for its domain; 0: not stated.
  std::vector<std::string> inputs;   ///< Values; an empty name is an omitted one.
  std::vector<std::string> outputs;  ///< The same.
  std::vector<Attribute> attributes;
  std::string layer;   ///< The module that it comes from, for people; may be empty.
  std::string source;  ///< The line of the program, for people; may be empty.

  /// Null if it has no such attribute.
  [[nodiscard]] const Attribute* find(std::string_view attribute) const;
  /// The value of an attribute, or the given default. An attribute of another type counts as absent.
  [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  [[nodiscard]] std::string_view text(std::string_view attribute, std::string_view otherwise) const;
  /// Null if it has no such attribute, or one of another type.
  [[nodiscard]] const std::vector<std::int64_t>* integers(std::string_view attribute) const;
  [[nodiscard]] const TensorInfo* tensor(std::string_view attribute) const;
  [[nodiscard]] const Graph* graph(std::string_view attribute) const;

  /// True when its domain is ONNX's own and its kind is `onnx_kind`.
  [[nodiscard]] bool is(std::string_view onnx_kind) const { return domain.empty() && kind == onnx_kind; }
};

/// "node 'conv_1' (Conv)", for messages; a node without a name is named by its first output.
[[nodiscard]] std::string describe(const Node& node);

/// The main graph, or a body of If, Loop or Scan, which also sees the values of the enclosing graphs.
struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<TensorInfo> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;  ///< Of intermediate values; any of them may be missing.
};

struct OpsetImport {
  std::string domain;  ///< Empty for ONNX's own.
  std::int64_t version = 0;
};

/// A named list of nodes, called by nodes of that kind.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;  ///< Names of those without a default.
  std::vector<Attribute> defaults;      ///< Those that have one.
  std::vector<Node> nodes;
  std::vector<ValueInfo> value_infos;
};

struct Model {
  std::int64_t ir_version = 0;
  std::vector<OpsetImport> imports;
  Graph graph;
  std::vector<Function> functions;
};

}  // namespace stowage::io::onnx
