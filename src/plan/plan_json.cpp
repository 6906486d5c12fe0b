#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "files/interface/json_reader.hpp"
#include "files/interface/json_writer.hpp"
#include "plan/interface/plan_file.hpp"

namespace stowage {
namespace {

using files::JsonValue;
using files::OrderedJson;

using Name = std::string_view;
constexpr Name kPlanFields[] = {"schema",   "graph",  "arenas", "placements", "workspaces", "clears",
                                "bindings", "copies", "edges",  "notes",      "stats"};
constexpr Name kArenaFields[] = {"name",    "memory",      "kind",           "size",
                                 "regions", "lower_bound", "proven_optimal", "tensor"};
constexpr Name kPlacementFields[] = {"tensor", "arena", "region", "offset", "size", "body"};
constexpr Name kWorkspaceFields[] = {"op", "index", "arena", "region", "offset", "size", "body"};
constexpr Name kClearFields[] = {"arena", "region", "offset", "size", "value", "before", "body"};
constexpr Name kBindingFields[] = {"tensor", "size", "alignment"};
constexpr Name kCopyFields[] = {"tensor", "before", "arena", "region", "offset", "size", "reason", "body"};
constexpr Name kNoteFields[] = {"tensor", "reason", "body"};

constexpr std::int64_t kMaxPosition = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kBackEdge = -1;
constexpr ArenaKind kKinds[] = {ArenaKind::shared,     ArenaKind::fixed, ArenaKind::session,
                                ArenaKind::persistent, ArenaKind::ring,  ArenaKind::user};

// --------------------------------------------------------------------------------------------------------------- read

ArenaKind read_kind(const JsonValue& value) {
  const std::string name = value.text();
  for (const ArenaKind kind : kKinds) {
    if (to_string(kind) == name) return kind;
  }
  value.fail(ErrorCode::parse, fmt::format("unknown arena kind '{}'", name));
  return ArenaKind::shared;
}

Bytes read_bytes(const JsonValue& value) { return value.bytes(); }

Arena read_arena(const JsonValue& value) {
  value.allow_fields(kArenaFields);
  Arena arena;
  if (const auto field = value.find("name")) arena.name = field->text();
  if (const auto field = value.find("memory")) arena.memory = MemoryId(field->position());
  if (const auto field = value.find("kind")) arena.kind = read_kind(*field);
  arena.size = value.require("size").bytes();
  arena.regions = {arena.size};
  if (const auto field = value.find("regions")) arena.regions = field->list(read_bytes);
  if (const auto field = value.find("lower_bound")) arena.lower_bound = field->bytes();
  if (const auto field = value.find("proven_optimal")) arena.proven_optimal = field->boolean();
  if (const auto field = value.find("tensor")) arena.tensor = TensorId(field->position());
  return arena;
}

std::uint32_t read_region(const JsonValue& entry) {
  const auto field = entry.find("region");
  return field ? field->position() : 0;
}

std::uint32_t read_position(const JsonValue& value) { return value.position(); }

/// The path to the body whose ids the entry uses; empty for the root.
BodyPath read_body(const JsonValue& entry) {
  const auto field = entry.find("body");
  if (!field) return {};
  if (const std::size_t count = field->size(); count % 2 != 0)
    field->fail(ErrorCode::parse, fmt::format("must consist of pairs of an op and a body, not {} elements", count));
  return field->list(read_position);
}

InBody<Placement> read_placement(const JsonValue& value) {
  value.allow_fields(kPlacementFields);
  return {{.tensor = TensorId(value.require("tensor").position()),
           .arena = ArenaId(value.require("arena").position()),
           .region = read_region(value),
           .offset = value.require("offset").bytes(),
           .size = value.require("size").bytes()},
          read_body(value)};
}

InBody<WorkspacePlacement> read_workspace(const JsonValue& value) {
  value.allow_fields(kWorkspaceFields);
  return {{.op = OpId(value.require("op").position()),
           .index = value.require("index").position(),
           .arena = ArenaId(value.require("arena").position()),
           .region = read_region(value),
           .offset = value.require("offset").bytes(),
           .size = value.require("size").bytes()},
          read_body(value)};
}

InBody<Clear> read_clear(const JsonValue& value) {
  value.allow_fields(kClearFields);
  const auto filled_with = value.find("value");
  return {{.arena = ArenaId(value.require("arena").position()),
           .region = read_region(value),
           .offset = value.require("offset").bytes(),
           .size = value.require("size").bytes(),
           .value = filled_with ? filled_with->byte() : std::uint8_t{0},
           .before = OpId(value.require("before").position())},
          read_body(value)};
}

Binding read_binding(const JsonValue& value) {
  value.allow_fields(kBindingFields);
  return {.tensor = TensorId(value.require("tensor").position()),
          .size = value.require("size").bytes(),
          .alignment = value.require("alignment").bytes()};
}

/// The number of an op of the body; one past the last op is the end of the body. kBackEdge is the end of an iteration.
CopyMoment read_moment(const JsonValue& value) {
  const std::int64_t before = value.integer(kBackEdge, kMaxPosition);
  return before == kBackEdge ? CopyMoment::at_back_edge() : CopyMoment::before(OpId(static_cast<std::size_t>(before)));
}

InBody<Copy> read_copy(const JsonValue& value) {
  value.allow_fields(kCopyFields);
  const auto reason = value.find("reason");
  return {{.tensor = TensorId(value.require("tensor").position()),
           .when = read_moment(value.require("before")),
           .arena = ArenaId(value.require("arena").position()),
           .region = read_region(value),
           .offset = value.require("offset").bytes(),
           .size = value.require("size").bytes(),
           .reason = reason ? reason->text() : std::string()},
          read_body(value)};
}

Edge read_edge(const JsonValue& value) {
  if (const std::size_t count = value.size(); count != 2) {
    value.fail(ErrorCode::parse, fmt::format("must have 2 elements, not {}", count));
    return {};
  }
  return {OpId(value.element(0).position()), OpId(value.element(1).position())};
}

InBody<Note> read_note(const JsonValue& value) {
  value.allow_fields(kNoteFields);
  return {{.tensor = TensorId(value.require("tensor").position()), .reason = value.require("reason").text()},
          read_body(value)};
}

PlanFile read_plan(const JsonValue& value) {
  value.require_schema("stowage.plan/");
  value.allow_fields(kPlanFields);
  PlanFile plan;
  if (const auto field = value.find("graph")) plan.graph = field->text();
  if (const auto field = value.find("arenas")) plan.arenas = field->list(read_arena);
  if (const auto field = value.find("placements")) plan.placements = field->list(read_placement);
  if (const auto field = value.find("workspaces")) plan.workspaces = field->list(read_workspace);
  if (const auto field = value.find("clears")) plan.clears = field->list(read_clear);
  if (const auto field = value.find("bindings")) plan.bindings = field->list(read_binding);
  if (const auto field = value.find("copies")) plan.copies = field->list(read_copy);
  if (const auto field = value.find("edges")) plan.edges = field->list(read_edge);
  if (const auto field = value.find("notes")) plan.notes = field->list(read_note);
  if (const auto field = value.find("stats")) field->require_object();
  return plan;
}

// -------------------------------------------------------------------------------------------------------------- write

OrderedJson arena_to_json(const Arena& arena) {
  OrderedJson regions = OrderedJson::array();
  for (const Bytes top : arena.regions) regions.push_back(top.value());
  OrderedJson json{{"name", arena.name},
                   {"memory", arena.memory.index()},
                   {"kind", to_string(arena.kind)},
                   {"size", arena.size.value()},
                   {"regions", regions},
                   {"lower_bound", arena.lower_bound.value()},
                   {"proven_optimal", arena.proven_optimal}};
  if (arena.tensor) json["tensor"] = arena.tensor->index();
  return json;
}

/// Appends the fields that say where something lies.
template <class Placed>
void append_place(OrderedJson& json, const Placed& placed) {
  json["arena"] = placed.arena.index();
  if (placed.region != 0) json["region"] = placed.region;
  json["offset"] = placed.offset.value();
  json["size"] = placed.size.value();
}

/// Appends the body whose ids the entry uses, unless that is the root.
template <class Entry>
void append_body(OrderedJson& json, const InBody<Entry>& entry) {
  if (!entry.body.empty()) json["body"] = entry.body;
}

OrderedJson placement_to_json(const InBody<Placement>& placement) {
  OrderedJson json = OrderedJson::object();
  json["tensor"] = placement.entry.tensor.index();
  append_place(json, placement.entry);
  append_body(json, placement);
  return json;
}

OrderedJson workspace_to_json(const InBody<WorkspacePlacement>& workspace) {
  OrderedJson json{{"op", workspace.entry.op.index()}, {"index", workspace.entry.index}};
  append_place(json, workspace.entry);
  append_body(json, workspace);
  return json;
}

OrderedJson clear_to_json(const InBody<Clear>& clear) {
  OrderedJson json = OrderedJson::object();
  append_place(json, clear.entry);
  json["value"] = clear.entry.value;
  json["before"] = clear.entry.before.index();
  append_body(json, clear);
  return json;
}

OrderedJson binding_to_json(const Binding& binding) {
  return {{"tensor", binding.tensor.index()}, {"size", binding.size.value()}, {"alignment", binding.alignment.value()}};
}

OrderedJson copy_to_json(const InBody<Copy>& copy) {
  const CopyMoment when = copy.entry.when;
  const bool back_edge = when.kind == CopyMoment::Kind::back_edge;
  OrderedJson json{{"tensor", copy.entry.tensor.index()},
                   {"before", back_edge ? kBackEdge : static_cast<std::int64_t>(when.op.index())}};
  append_place(json, copy.entry);
  json["reason"] = copy.entry.reason;
  append_body(json, copy);
  return json;
}

OrderedJson edge_to_json(const Edge& edge) { return OrderedJson::array({edge.from.index(), edge.to.index()}); }

OrderedJson note_to_json(const InBody<Note>& note) {
  OrderedJson json{{"tensor", note.entry.tensor.index()}, {"reason", note.entry.reason}};
  append_body(json, note);
  return json;
}

}  // namespace

Result<PlanFile> parse_plan(std::string_view text, const std::string& file) {
  return files::read_json(text, file, read_plan);
}

Result<std::shared_ptr<const PlanFile>> parse_plan_file(std::string_view text, const std::string& file) {
  STOWAGE_TRY(PlanFile plan, parse_plan(text, file));
  return std::make_shared<const PlanFile>(std::move(plan));
}

Result<Plan> parse_plan(std::string_view text, const std::string& file, const Graph& graph) {
  STOWAGE_TRY(const PlanFile plan, parse_plan(text, file));
  Result<Plan> result = plan_for(graph, plan);
  if (!result) result.error().where.file = file;
  return result;
}

std::string plan_to_json(const PlanFile& plan) {
  std::string text = "{\"schema\":\"stowage.plan/1\",\"graph\":" + files::to_line(plan.graph);
  files::append_list(text, "arenas", plan.arenas, arena_to_json);
  files::append_list(text, "placements", plan.placements, placement_to_json);
  files::append_list(text, "workspaces", plan.workspaces, workspace_to_json);
  files::append_list(text, "clears", plan.clears, clear_to_json);
  files::append_list(text, "bindings", plan.bindings, binding_to_json);
  files::append_list(text, "copies", plan.copies, copy_to_json);
  files::append_list(text, "edges", plan.edges, edge_to_json);
  files::append_list(text, "notes", plan.notes, note_to_json);
  return text + ",\n\"stats\":{}}\n";
}

std::string plan_to_json(const Graph& graph, const Plan& plan) { return plan_to_json(localise(graph, plan)); }

}  // namespace stowage
