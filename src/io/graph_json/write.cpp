#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "files/interface/json_writer.hpp"
#include "graph/interface/flags.hpp"
#include "io/graph_json/names.hpp"
#include "stowage/io.hpp"

namespace stowage {
namespace {

using files::OrderedJson;
using io::Named;

template <class List>
OrderedJson id_to_json(Id<List> id) {
  return id.index();
}

template <class Value, std::size_t count>
std::string_view name_of(Value value, const std::array<Named<Value>, count>& known) {
  for (const Named<Value>& each : known) {
    if (each.value == value) return each.name;
  }
  return "";
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
  if (memory.bandwidth) json["bandwidth"] = files::number_to_json(*memory.bandwidth);
  return json;
}

OrderedJson flags_to_json(TensorFlags flags) {
  OrderedJson json = OrderedJson::array();
  for (const NamedTensorFlag& known : kTensorFlags) {
    if (flags.has(known.value)) json.push_back(known.name);
  }
  return json;
}

OrderedJson view_to_json(const ViewOf& view) {
  return {{"tensor", view.tensor.index()}, {"offset", view.offset.value()}};
}

OrderedJson tensor_to_json(const Tensor& tensor) {
  OrderedJson json{{"name", tensor.name}, {"size", tensor.size.value()}};
  if (!tensor.dtype.empty()) json["dtype"] = tensor.dtype;
  if (!tensor.shape.empty()) json["shape"] = tensor.shape;
  if (tensor.memory != MemoryId()) json["memory"] = tensor.memory.index();
  if (tensor.alignment) json["alignment"] = tensor.alignment->value();
  if (!tensor.flags.empty()) json["flags"] = flags_to_json(tensor.flags);
  if (tensor.view_of) json["view_of"] = view_to_json(*tensor.view_of);
  if (tensor.origin) json["origin"] = tensor.origin->index();
  return json;
}

OrderedJson workspace_to_json(const Workspace& workspace) {
  OrderedJson json = OrderedJson::object();
  json["size"] = workspace.size.value();
  if (workspace.memory != MemoryId()) json["memory"] = workspace.memory.index();
  if (workspace.alignment) json["alignment"] = workspace.alignment->value();
  if (workspace.scope != WorkspaceScope::op) json["scope"] = name_of(workspace.scope, io::kScopes);
  if (workspace.no_reuse) json["no_reuse"] = true;
  return json;
}

OrderedJson input_to_json(const std::optional<TensorId>& input) {
  if (!input) return -1;
  return input->index();
}

OrderedJson pair_to_json(const InPlacePair& pair) { return OrderedJson::array({pair.output, pair.input}); }

OrderedJson alias_to_json(const Alias& alias) {
  return OrderedJson::array({alias.output, alias.input, alias.offset.value()});
}

template <class Pair>
OrderedJson tensors_to_json(const Pair& pair) {
  const auto& [first, second] = pair;
  return OrderedJson::array({first.index(), second.index()});
}

OrderedJson fill_to_json(const ZeroFill& fill) {
  OrderedJson json = OrderedJson::object();
  if (!fill.outputs.empty()) json["outputs"] = fill.outputs;
  if (!fill.workspaces.empty()) json["workspaces"] = fill.workspaces;
  if (fill.value != 0) json["value"] = fill.value;
  return json;
}

OrderedJson pool_to_json(const Ring& pool) {
  OrderedJson json{{"name", pool.name}, {"size", pool.size.value()}};
  if (pool.memory != MemoryId()) json["memory"] = pool.memory.index();
  return json;
}

/// The op's constraints on the memory that it uses.
void append_demands(OrderedJson& json, const Op& op) {
  if (!op.in_place.empty()) json["in_place"] = list_to_json(op.in_place, pair_to_json);
  if (!op.aliases.empty()) json["alias"] = list_to_json(op.aliases, alias_to_json);
  if (op.contiguous_inputs != Contiguity::none)
    json["contiguous_inputs"] = name_of(op.contiguous_inputs, io::kContiguities);
  if (op.contiguous_outputs != Contiguity::none)
    json["contiguous_outputs"] = name_of(op.contiguous_outputs, io::kContiguities);
  if (!op.workspaces.empty()) json["workspaces"] = list_to_json(op.workspaces, workspace_to_json);
  if (op.zero_fill != ZeroFill{}) json["zero_fill"] = fill_to_json(op.zero_fill);
  if (op.fixed_address) json["fixed_address"] = true;
  if (op.prefetch) json["prefetch"] = {{"pool", op.prefetch->index()}};
}

/// What rewrites and people know about the op.
void append_annotations(OrderedJson& json, const Op& op) {
  if (op.cost) json["cost"] = files::number_to_json(*op.cost);
  if (op.flops) json["flops"] = files::number_to_json(*op.flops);
  if (!op.recompute) json["recompute"] = false;
  if (op.trip_count) json["trip_count"] = *op.trip_count;
  if (op.origin) json["origin"] = op.origin->index();
  if (!op.layer.empty()) json["scope"] = op.layer;
  if (!op.source.empty()) json["source"] = op.source;
}

/// Everything except the bodies.
OrderedJson op_to_json(const Op& op) {
  OrderedJson json = OrderedJson::object();
  json["name"] = op.name;
  if (!op.kind.empty()) json["kind"] = op.kind;
  if (!op.inputs.empty()) json["inputs"] = list_to_json(op.inputs, input_to_json);
  if (!op.outputs.empty()) json["outputs"] = list_to_json(op.outputs, id_to_json<struct TensorList>);
  if (op.no_task) json["no_task"] = true;
  append_demands(json, op);
  if (op.stream != StreamId()) json["stream"] = op.stream.index();
  if (!op.after.empty()) json["after"] = list_to_json(op.after, id_to_json<struct OpList>);
  for (const NamedOpFlag& flag : kOpFlags) {  // those that were written above stay there
    if (op.*flag.field) json[std::string(flag.name)] = true;
  }
  if (!op.batch.empty()) json["batch"] = op.batch;
  if (!op.backend.empty()) json["backend"] = op.backend;
  if (op.control != Control::none) json["control"] = name_of(op.control, io::kControls);
  append_annotations(json, op);
  return json;
}

std::string op_text(const Op& op, const std::string& indent);

template <class Pairs>
void append_pairs(std::string& text, std::string_view name, const Pairs& pairs) {
  using Pair = typename Pairs::value_type;
  if (!pairs.empty())
    text += fmt::format(",\"{}\":{}", name, files::to_line(list_to_json(pairs, tensors_to_json<Pair>)));
}

/// One tensor or op per line, indented by `indent`.
std::string body_text(const Body& body, const std::string& indent) {
  const std::string inner = indent + "  ";
  std::string text = indent + "{\"tensors\":[";
  files::append_lines(text, body.tensors,
                      [&](const Tensor& tensor) { return inner + files::to_line(tensor_to_json(tensor)); });
  text += ",\n" + indent + "\"ops\":[";
  files::append_lines(text, body.ops, [&](const Op& op) { return inner + op_text(op, inner); });
  append_pairs(text, "inputs", body.inputs);
  append_pairs(text, "outputs", body.outputs);
  append_pairs(text, "carried", body.carried);
  return text + '}';
}

/// One line, followed by its bodies, indented by `indent` and two spaces.
std::string op_text(const Op& op, const std::string& indent) {
  std::string text = files::to_line(op_to_json(op));
  if (op.bodies.empty()) return text;
  text.pop_back();
  text += ",\"bodies\":[";
  files::append_lines(text, op.bodies, [&](const Body& body) { return body_text(body, indent + "  "); });
  return text + '}';
}

}  // namespace

std::string graph_to_json(const Graph& graph) {
  const GraphDescription& description = graph.description();
  std::string text = "{\"schema\":\"stowage.graph/1\",\"name\":" + files::to_line(description.name);
  files::append_list(text, "memories", description.memories, memory_to_json);
  if (!description.rings.empty()) files::append_list(text, "pools", description.rings, pool_to_json);
  files::append_list(text, "tensors", description.tensors, tensor_to_json);
  text += ",\n\"ops\":[";
  files::append_lines(text, description.ops, [](const Op& op) { return op_text(op, ""); });
  if (!description.apart.empty()) files::append_list(text, "apart", description.apart, tensors_to_json<ApartTensors>);
  return text + "}\n";
}

}  // namespace stowage
