#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/json_reader.hpp"
#include "io/json_writer.hpp"
#include "stowage/io.hpp"

namespace stowage {
namespace {

using io::JsonValue;
using io::OrderedJson;

struct NamedFlag {
  std::string_view name;
  TensorFlag flag;
};
constexpr std::array kFlags{
    NamedFlag{"input", TensorFlag::input},       NamedFlag{"output", TensorFlag::output},
    NamedFlag{"constant", TensorFlag::constant}, NamedFlag{"variable", TensorFlag::variable},
    NamedFlag{"no_reuse", TensorFlag::no_reuse}, NamedFlag{"external", TensorFlag::external},
};

using Name = std::string_view;
constexpr Name kLaterFlags[] = {"zero_copy", "reusable", "shape_data"};
constexpr Name kGraphFields[] = {"schema", "name", "memories", "tensors", "ops"};
constexpr Name kLaterGraphFields[] = {"pools"};
constexpr Name kMemoryFields[] = {"name", "alignment", "max_size", "kind"};
constexpr Name kTensorFields[] = {"name", "size", "dtype", "shape", "memory", "alignment", "flags", "view_of"};
constexpr Name kViewFields[] = {"tensor", "offset"};
constexpr Name kOpFields[] = {"name",  "kind",       "inputs", "outputs", "no_task", "in_place",
                              "alias", "workspaces", "stream", "after",   "no_reuse"};
constexpr Name kLaterOpFields[] = {
    "contiguous_inputs", "contiguous_outputs", "zero_fill", "fixed_address", "batch", "backend", "control", "bodies", "prefetch"};
constexpr Name kWorkspaceFields[] = {"size", "memory", "alignment", "scope", "no_reuse"};

constexpr std::int64_t kMaxId = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// ----------------------------------------------------------------------------------------------------------------- read

template <class Id>
Id read_id(const JsonValue& value) {
  return Id(value.position());
}

Memory read_memory(const JsonValue& value) {
  value.allow_fields(kMemoryFields);
  Memory memory;
  if (const auto field = value.find("name")) memory.name = field->text();
  if (const auto field = value.find("alignment")) memory.alignment = field->bytes();
  if (const auto field = value.find("max_size"); field && !field->is_null()) memory.max_size = field->bytes();
  if (const auto field = value.find("kind")) memory.kind = field->text();
  return memory;
}

TensorFlags read_flag(const JsonValue& value) {
  const std::string name = value.text();
  for (const NamedFlag& known : kFlags) {
    if (known.name == name) return known.flag;
  }
  for (const std::string_view later : kLaterFlags) {
    if (later == name) value.fail(ErrorCode::unsupported, fmt::format("flag '{}' is not supported yet", name));
  }
  value.fail(ErrorCode::parse, fmt::format("unknown flag '{}'", name));
  return {};
}

TensorFlags read_flags(const JsonValue& value) {
  TensorFlags flags;
  for (const TensorFlags flag : value.list(read_flag)) flags |= flag;
  return flags;
}

ViewOf read_view(const JsonValue& value) {
  value.allow_fields(kViewFields);
  ViewOf view{.tensor = read_id<TensorId>(value.require("tensor")), .offset = Bytes(0)};
  if (const auto field = value.find("offset")) view.offset = field->bytes();
  return view;
}

std::int64_t read_extent(const JsonValue& value) { return value.integer(kLowest, kHighest); }

Tensor read_tensor(const JsonValue& value) {
  value.allow_fields(kTensorFields);
  Tensor tensor{.name = {}, .size = value.require("size").bytes()};
  if (const auto field = value.find("name")) tensor.name = field->text();
  if (const auto field = value.find("dtype")) tensor.dtype = field->text();
  if (const auto field = value.find("shape")) tensor.shape = field->list(read_extent);
  if (const auto field = value.find("memory")) tensor.memory = read_id<MemoryId>(*field);
  if (const auto field = value.find("alignment")) tensor.alignment = field->bytes();
  if (const auto field = value.find("flags")) tensor.flags = read_flags(*field);
  if (const auto field = value.find("view_of")) tensor.view_of = read_view(*field);
  return tensor;
}

void check_scope(const JsonValue& value) {
  const std::string scope = value.text();
  if (scope == "op") return;
  if (scope == "session") return value.fail(ErrorCode::unsupported, "scope 'session' is not supported yet");
  value.fail(ErrorCode::parse, fmt::format("unknown scope '{}'", scope));
}

Workspace read_workspace(const JsonValue& value) {
  value.allow_fields(kWorkspaceFields);
  // -1 is how importers say "none" without moving the workspaces behind it.
  const std::int64_t size = value.require("size").integer(-1, kMaxBytes.value());
  Workspace workspace{.size = Bytes(size == -1 ? 0 : size)};
  if (const auto field = value.find("memory")) workspace.memory = read_id<MemoryId>(*field);
  if (const auto field = value.find("alignment")) workspace.alignment = field->bytes();
  if (const auto field = value.find("scope")) check_scope(*field);
  if (const auto field = value.find("no_reuse")) workspace.no_reuse = field->boolean();
  return workspace;
}

std::optional<TensorId> read_input(const JsonValue& value) {
  const std::int64_t id = value.integer(-1, kMaxId);
  if (id == -1) return std::nullopt;
  return TensorId(static_cast<std::size_t>(id));
}

/// False, with an error, unless the array has exactly `count` elements.
bool has_elements(const JsonValue& value, std::size_t count) {
  const std::size_t found = value.size();
  if (found != count) value.fail(ErrorCode::parse, fmt::format("must have {} elements, not {}", count, found));
  return found == count;
}

InPlacePair read_pair(const JsonValue& value) {
  if (!has_elements(value, 2)) return {0, 0};
  return {value.element(0).position(), value.element(1).position()};
}

Alias read_alias(const JsonValue& value) {
  if (!has_elements(value, 3)) return {0, 0, Bytes(0)};
  return {value.element(0).position(), value.element(1).position(), value.element(2).bytes()};
}

Op read_op(const JsonValue& value) {
  value.allow_fields(kOpFields, kLaterOpFields);
  Op op;
  if (const auto field = value.find("name")) op.name = field->text();
  if (const auto field = value.find("kind")) op.kind = field->text();
  if (const auto field = value.find("inputs")) op.inputs = field->list(read_input);
  if (const auto field = value.find("outputs")) op.outputs = field->list(read_id<TensorId>);
  if (const auto field = value.find("no_task")) op.no_task = field->boolean();
  if (const auto field = value.find("in_place")) op.in_place = field->list(read_pair);
  if (const auto field = value.find("alias")) op.aliases = field->list(read_alias);
  if (const auto field = value.find("workspaces")) op.workspaces = field->list(read_workspace);
  if (const auto field = value.find("stream")) op.stream = read_id<StreamId>(*field);
  if (const auto field = value.find("after")) op.after = field->list(read_id<OpId>);
  if (const auto field = value.find("no_reuse")) op.no_reuse = field->boolean();
  return op;
}

GraphDescription read_description(const JsonValue& value) {
  value.require_schema("stowage.graph/");
  value.allow_fields(kGraphFields, kLaterGraphFields);
  GraphDescription graph;
  if (const auto field = value.find("name")) graph.name = field->text();
  if (const auto field = value.find("memories")) graph.memories = field->list(read_memory);
  if (const auto field = value.find("tensors")) graph.tensors = field->list(read_tensor);
  if (const auto field = value.find("ops")) graph.ops = field->list(read_op);
  return graph;
}

// ---------------------------------------------------------------------------------------------------------------- write

template <class List>
OrderedJson id_to_json(Id<List> id) {
  return id.index();
}

template <class Values, class ToJson>
OrderedJson list_to_json(const Values& values, ToJson to_json) {
  OrderedJson json = OrderedJson::array();
  for (const auto& value : values) json.push_back(to_json(value));
  return json;
}

OrderedJson memory_to_json(const Memory& memory) {
  OrderedJson json = OrderedJson::object();
  json["name"] = memory.name;
  if (memory.alignment != Memory{}.alignment) json["alignment"] = memory.alignment.value();
  if (memory.max_size) json["max_size"] = memory.max_size->value();
  if (memory.kind != Memory{}.kind) json["kind"] = memory.kind;
  return json;
}

OrderedJson flags_to_json(TensorFlags flags) {
  OrderedJson json = OrderedJson::array();
  for (const NamedFlag& known : kFlags) {
    if (flags.has(known.flag)) json.push_back(known.name);
  }
  return json;
}

OrderedJson view_to_json(const ViewOf& view) { return {{"tensor", view.tensor.index()}, {"offset", view.offset.value()}}; }

OrderedJson tensor_to_json(const Tensor& tensor) {
  OrderedJson json{{"name", tensor.name}, {"size", tensor.size.value()}};
  if (!tensor.dtype.empty()) json["dtype"] = tensor.dtype;
  if (!tensor.shape.empty()) json["shape"] = tensor.shape;
  if (tensor.memory != MemoryId()) json["memory"] = tensor.memory.index();
  if (tensor.alignment) json["alignment"] = tensor.alignment->value();
  if (!tensor.flags.empty()) json["flags"] = flags_to_json(tensor.flags);
  if (tensor.view_of) json["view_of"] = view_to_json(*tensor.view_of);
  return json;
}

OrderedJson workspace_to_json(const Workspace& workspace) {
  OrderedJson json = OrderedJson::object();
  json["size"] = workspace.size.value();
  if (workspace.memory != MemoryId()) json["memory"] = workspace.memory.index();
  if (workspace.alignment) json["alignment"] = workspace.alignment->value();
  if (workspace.no_reuse) json["no_reuse"] = true;
  return json;
}

OrderedJson input_to_json(const std::optional<TensorId>& input) {
  if (!input) return -1;
  return input->index();
}

OrderedJson pair_to_json(const InPlacePair& pair) { return OrderedJson::array({pair.output, pair.input}); }

OrderedJson alias_to_json(const Alias& alias) { return OrderedJson::array({alias.output, alias.input, alias.offset.value()}); }

OrderedJson op_to_json(const Op& op) {
  OrderedJson json = OrderedJson::object();
  json["name"] = op.name;
  if (!op.kind.empty()) json["kind"] = op.kind;
  if (!op.inputs.empty()) json["inputs"] = list_to_json(op.inputs, input_to_json);
  if (!op.outputs.empty()) json["outputs"] = list_to_json(op.outputs, id_to_json<struct TensorList>);
  if (op.no_task) json["no_task"] = true;
  if (!op.in_place.empty()) json["in_place"] = list_to_json(op.in_place, pair_to_json);
  if (!op.aliases.empty()) json["alias"] = list_to_json(op.aliases, alias_to_json);
  if (!op.workspaces.empty()) json["workspaces"] = list_to_json(op.workspaces, workspace_to_json);
  if (op.stream != StreamId()) json["stream"] = op.stream.index();
  if (!op.after.empty()) json["after"] = list_to_json(op.after, id_to_json<struct OpList>);
  if (op.no_reuse) json["no_reuse"] = true;
  return json;
}

}  // namespace

Result<Graph> parse_graph(std::string_view text, const std::string& file) {
  STOWAGE_TRY(const io::JsonDocument document, io::parse_json(text, file));
  io::JsonErrors errors(document);
  GraphDescription description = read_description(JsonValue(document, errors));
  if (errors.first()) return *errors.first();
  Result<Graph> graph = Graph::build(std::move(description));
  if (!graph) graph.error().where.file = file;
  return graph;
}

std::string graph_to_json(const Graph& graph) {
  std::string text = "{\"schema\":\"stowage.graph/1\",\"name\":" + io::to_line(graph.name());
  io::append_list(text, "memories", graph.memories(), memory_to_json);
  io::append_list(text, "tensors", graph.tensors(), tensor_to_json);
  io::append_list(text, "ops", graph.ops(), op_to_json);
  return text + "}\n";
}

}  // namespace stowage
