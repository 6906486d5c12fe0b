#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "files/interface/csv_text.hpp"
#include "files/interface/json_reader.hpp"
#include "graph/interface/flags.hpp"
#include "io/extent.hpp"
#include "io/graph_json/format.hpp"
#include "io/graph_json/names.hpp"
#include "rewrite/interface/rewrites.hpp"
#include "stowage/io.hpp"

namespace stowage {
namespace {

using files::JsonValue;

constexpr files::NamedList kNamed[] = {{"tensors", "tensor"}, {"ops", "op"}};

using Name = std::string_view;
constexpr Name kGraphFields[] = {"schema", "name", "memories", "pools", "tensors", "ops", "apart"};
constexpr Name kMemoryFields[] = {"name", "alignment", "max_size", "kind", "bandwidth"};
constexpr Name kTensorFields[] = {"name",      "size",  "dtype",   "shape", "memory",
                                  "alignment", "flags", "view_of", "origin"};
constexpr Name kViewFields[] = {"tensor", "offset"};
constexpr Name kFieldsOfAnOp[] = {"name",
                                  "kind",
                                  "inputs",
                                  "outputs",
                                  "in_place",
                                  "alias",
                                  "workspaces",
                                  "stream",
                                  "after",
                                  "contiguous_inputs",
                                  "contiguous_outputs",
                                  "zero_fill",
                                  "batch",
                                  "backend",
                                  "control",
                                  "bodies",
                                  "prefetch",
                                  "cost",
                                  "flops",
                                  "recompute",
                                  "trip_count",
                                  "origin",
                                  "scope",
                                  "source"};
/// Those, and every flag.
constexpr auto kOpFields = [] {
  std::array<Name, std::size(kFieldsOfAnOp) + kOpFlags.size()> names{};
  auto next = std::copy(std::begin(kFieldsOfAnOp), std::end(kFieldsOfAnOp), names.begin());
  for (const NamedOpFlag& flag : kOpFlags) *next++ = flag.name;
  return names;
}();
constexpr Name kFillFields[] = {"outputs", "workspaces", "value"};
constexpr Name kPrefetchFields[] = {"pool"};
constexpr Name kBodyFields[] = {"tensors", "ops", "inputs", "outputs", "carried"};
constexpr Name kPoolFields[] = {"name", "size", "memory"};
constexpr Name kWorkspaceFields[] = {"size", "memory", "alignment", "scope", "no_reuse"};

constexpr std::int64_t kMaxId = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

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
  if (const auto field = value.find("bandwidth")) memory.bandwidth = field->number();
  return memory;
}

/// One of the values in `known`; `what` says what they are, for messages.
template <class Known>
auto read_named(const JsonValue& value, const Known& known, std::string_view what) {
  const std::string name = value.text();
  for (const auto& each : known) {
    if (each.name == name) return each.value;
  }
  value.fail(ErrorCode::parse, fmt::format("unknown {} '{}'", what, name));
  return known.front().value;
}

TensorFlag read_flag(const JsonValue& value) { return read_named(value, kTensorFlags, "flag"); }

TensorFlags read_flags(const JsonValue& value) {
  TensorFlags flags;
  for (const TensorFlag flag : value.list(read_flag)) flags |= flag;
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
  if (const auto field = value.find("origin")) tensor.origin = read_id<TensorId>(*field);
  return tensor;
}

Workspace read_workspace(const JsonValue& value) {
  value.allow_fields(kWorkspaceFields);
  // Importers use -1 for "none", so that later workspaces keep their index.
  const std::int64_t size = value.require("size").integer(-1, kMaxBytes.value());
  Workspace workspace{.size = Bytes(size == -1 ? 0 : size)};
  if (const auto field = value.find("memory")) workspace.memory = read_id<MemoryId>(*field);
  if (const auto field = value.find("alignment")) workspace.alignment = field->bytes();
  if (const auto field = value.find("scope")) workspace.scope = read_named(*field, io::kScopes, "scope");
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

/// A pair of tensors: of a body's inputs, outputs or carried values, or of the graph's `apart`.
template <class Pair>
Pair read_tensors(const JsonValue& value) {
  if (!has_elements(value, 2)) return {};
  return {read_id<TensorId>(value.element(0)), read_id<TensorId>(value.element(1))};
}

Alias read_alias(const JsonValue& value) {
  if (!has_elements(value, 3)) return {0, 0, Bytes(0)};
  return {value.element(0).position(), value.element(1).position(), value.element(2).bytes()};
}

std::uint32_t read_position(const JsonValue& value) { return value.position(); }

ZeroFill read_fill(const JsonValue& value) {
  value.allow_fields(kFillFields);
  ZeroFill fill;
  if (const auto field = value.find("outputs")) fill.outputs = field->list(read_position);
  if (const auto field = value.find("workspaces")) fill.workspaces = field->list(read_position);
  if (const auto field = value.find("value")) fill.value = field->byte();
  return fill;
}

RingId read_prefetch(const JsonValue& value) {
  value.allow_fields(kPrefetchFields);
  return read_id<RingId>(value.require("pool"));
}

Ring read_pool(const JsonValue& value) {
  value.allow_fields(kPoolFields);
  Ring pool{.name = {}, .size = value.require("size").bytes()};
  if (const auto field = value.find("name")) pool.name = field->text();
  if (const auto field = value.find("memory")) pool.memory = read_id<MemoryId>(*field);
  return pool;
}

Op read_op(const JsonValue& value);

/// Recursion is bounded by the depth of the document, which is limited.
Body read_body(const JsonValue& value) {
  value.allow_fields(kBodyFields);
  Body body;
  if (const auto field = value.find("tensors")) body.tensors = field->list(read_tensor);
  if (const auto field = value.find("ops")) body.ops = field->list(read_op);
  if (const auto field = value.find("inputs")) body.inputs = field->list(read_tensors<BodyInput>);
  if (const auto field = value.find("outputs")) body.outputs = field->list(read_tensors<BodyOutput>);
  if (const auto field = value.find("carried")) body.carried = field->list(read_tensors<Carried>);
  return body;
}

/// How the op is run, and with what bodies.
void read_execution(const JsonValue& value, Op& op) {
  if (const auto field = value.find("stream")) op.stream = read_id<StreamId>(*field);
  if (const auto field = value.find("after")) op.after = field->list(read_id<OpId>);
  if (const auto field = value.find("batch")) op.batch = field->text();
  if (const auto field = value.find("backend")) op.backend = field->text();
  if (const auto field = value.find("control")) op.control = read_named(*field, io::kControls, "control");
  if (const auto field = value.find("bodies")) op.bodies = field->list(read_body);
}

/// What rewrites and people know about the op.
void read_annotations(const JsonValue& value, Op& op) {
  if (const auto field = value.find("cost")) op.cost = field->number();
  if (const auto field = value.find("flops")) op.flops = field->number();
  if (const auto field = value.find("recompute")) op.recompute = field->boolean();
  if (const auto field = value.find("trip_count")) op.trip_count = field->integer(0, kMaxBytes.value());
  if (const auto field = value.find("origin")) op.origin = read_id<OpId>(*field);
  if (const auto field = value.find("scope")) op.layer = field->text();
  if (const auto field = value.find("source")) op.source = field->text();
}

/// The op's constraints on the memory that it uses.
void read_demands(const JsonValue& value, Op& op) {
  if (const auto field = value.find("in_place")) op.in_place = field->list(read_pair);
  if (const auto field = value.find("alias")) op.aliases = field->list(read_alias);
  if (const auto field = value.find("contiguous_inputs"))
    op.contiguous_inputs = read_named(*field, io::kContiguities, "contiguity");
  if (const auto field = value.find("contiguous_outputs"))
    op.contiguous_outputs = read_named(*field, io::kContiguities, "contiguity");
  if (const auto field = value.find("zero_fill")) op.zero_fill = read_fill(*field);
  if (const auto field = value.find("prefetch")) op.prefetch = read_prefetch(*field);
}

Op read_op(const JsonValue& value) {
  value.allow_fields(kOpFields);
  Op op;
  if (const auto field = value.find("name")) op.name = field->text();
  if (const auto field = value.find("kind")) op.kind = field->text();
  if (const auto field = value.find("inputs")) op.inputs = field->list(read_input);
  if (const auto field = value.find("outputs")) op.outputs = field->list(read_id<TensorId>);
  if (const auto field = value.find("workspaces")) op.workspaces = field->list(read_workspace);
  for (const NamedOpFlag& flag : kOpFlags) {
    if (const auto field = value.find(flag.name)) op.*flag.field = field->boolean();
  }
  read_execution(value, op);
  read_demands(value, op);
  read_annotations(value, op);
  return op;
}

GraphDescription read_description(const JsonValue& value) {
  value.require_schema("stowage.graph/");
  value.allow_fields(kGraphFields);
  GraphDescription graph;
  if (const auto field = value.find("name")) graph.name = field->text();
  if (const auto field = value.find("memories")) graph.memories = field->list(read_memory);
  if (const auto field = value.find("pools")) graph.rings = field->list(read_pool);
  if (const auto field = value.find("tensors")) graph.tensors = field->list(read_tensor);
  if (const auto field = value.find("ops")) graph.ops = field->list(read_op);
  if (const auto field = value.find("apart")) graph.apart = field->list(read_tensors<ApartTensors>);
  return graph;
}

}  // namespace

bool io::graph_json::is_object(std::string_view text) {
  text = files::without_byte_order_mark(text);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{' && text.substr(first + 1, 1) != std::string_view("\0", 1);
}

Result<Graph> parse_graph(std::string_view text, const std::string& file) {
  ImportOptions unlimited;
  unlimited.limit = std::numeric_limits<std::uint32_t>::max();
  return io::parse_graph_with(text, file, unlimited);
}

Result<Graph> io::parse_graph_with(std::string_view text, const std::string& file, const ImportOptions& options) {
  const files::JsonLimits limits{.objects = kMaxObjects * options.limit};
  Result<GraphDescription> description = files::read_json(text, file, read_description, kNamed, limits);
  if (!description) return std::move(description).error();
  Result<Graph> graph = Graph::build(std::move(*description));
  if (graph && options.alignment) graph = io::graph_of(rewrite::with_alignment(*graph, *options.alignment), file);
  if (graph && options.fold.value_or(false)) graph = io::graph_of(rewrite::fold_constants(*graph), file);
  if (!graph) graph.error().where.file = file;
  return graph;
}

}  // namespace stowage
