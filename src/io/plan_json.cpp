#include <string>
#include <string_view>

#include <fmt/format.h>

#include "io/json_reader.hpp"
#include "io/json_writer.hpp"
#include "stowage/io.hpp"

namespace stowage {
namespace {

using io::JsonValue;
using io::OrderedJson;

using Name = std::string_view;
constexpr Name kPlanFields[] = {"schema",   "graph",  "arenas", "placements", "workspaces", "clears",
                                "bindings", "copies", "edges",  "notes",      "stats"};
constexpr Name kLaterLists[] = {"clears", "bindings", "copies", "edges"};  // written, empty, for readers that expect them
constexpr Name kArenaFields[] = {"name", "memory", "kind", "size", "regions", "lower_bound", "proven_optimal"};
constexpr Name kLaterArenaFields[] = {"tensor"};
constexpr Name kLaterKinds[] = {"fixed", "session", "pool", "user"};
constexpr Name kPlacementFields[] = {"tensor", "arena", "region", "offset", "size"};
constexpr Name kWorkspaceFields[] = {"op", "index", "arena", "region", "offset", "size"};
constexpr Name kNoteFields[] = {"tensor", "reason"};
constexpr Name kLaterEntryFields[] = {"body"};

// ----------------------------------------------------------------------------------------------------------------- read

ArenaKind read_kind(const JsonValue& value) {
  const std::string name = value.text();
  for (const ArenaKind kind : {ArenaKind::shared, ArenaKind::persistent}) {
    if (to_string(kind) == name) return kind;
  }
  for (const std::string_view later : kLaterKinds) {
    if (later == name) value.fail(ErrorCode::unsupported, fmt::format("arena kind '{}' is not supported yet", name));
  }
  value.fail(ErrorCode::parse, fmt::format("unknown arena kind '{}'", name));
  return ArenaKind::shared;
}

Bytes read_bytes(const JsonValue& value) { return value.bytes(); }

Arena read_arena(const JsonValue& value) {
  Arena arena;
  // The kind first: it explains the fields that come with it.
  if (const auto field = value.find("kind")) arena.kind = read_kind(*field);
  value.allow_fields(kArenaFields, kLaterArenaFields);
  if (const auto field = value.find("name")) arena.name = field->text();
  if (const auto field = value.find("memory")) arena.memory = MemoryId(field->position());
  arena.size = value.require("size").bytes();
  arena.regions = {arena.size};
  if (const auto field = value.find("regions")) arena.regions = field->list(read_bytes);
  if (const auto field = value.find("lower_bound")) arena.lower_bound = field->bytes();
  if (const auto field = value.find("proven_optimal")) arena.proven_optimal = field->boolean();
  return arena;
}

std::uint32_t read_region(const JsonValue& entry) {
  const auto field = entry.find("region");
  return field ? field->position() : 0;
}

Placement read_placement(const JsonValue& value) {
  value.allow_fields(kPlacementFields, kLaterEntryFields);
  return {.tensor = TensorId(value.require("tensor").position()),
          .arena = ArenaId(value.require("arena").position()),
          .region = read_region(value),
          .offset = value.require("offset").bytes(),
          .size = value.require("size").bytes()};
}

WorkspacePlacement read_workspace(const JsonValue& value) {
  value.allow_fields(kWorkspaceFields, kLaterEntryFields);
  return {.op = OpId(value.require("op").position()),
          .index = value.require("index").position(),
          .arena = ArenaId(value.require("arena").position()),
          .region = read_region(value),
          .offset = value.require("offset").bytes(),
          .size = value.require("size").bytes()};
}

Note read_note(const JsonValue& value) {
  value.allow_fields(kNoteFields, kLaterEntryFields);
  return {.tensor = TensorId(value.require("tensor").position()), .reason = value.require("reason").text()};
}

void refuse_later_lists(const JsonValue& value) {
  for (const std::string_view name : kLaterLists) {
    const auto field = value.find(name);
    if (field && field->size() > 0) field->fail(ErrorCode::unsupported, fmt::format("field '{}' is not supported yet", name));
  }
}

Plan read_plan(const JsonValue& value) {
  value.require_schema("stowage.plan/");
  value.allow_fields(kPlanFields);
  refuse_later_lists(value);
  Plan plan;
  if (const auto field = value.find("graph")) plan.graph = field->text();
  if (const auto field = value.find("arenas")) plan.arenas = field->list(read_arena);
  if (const auto field = value.find("placements")) plan.placements = field->list(read_placement);
  if (const auto field = value.find("workspaces")) plan.workspaces = field->list(read_workspace);
  if (const auto field = value.find("notes")) plan.notes = field->list(read_note);
  if (const auto field = value.find("stats")) field->require_object();
  return plan;
}

// ---------------------------------------------------------------------------------------------------------------- write

OrderedJson arena_to_json(const Arena& arena) {
  OrderedJson regions = OrderedJson::array();
  for (const Bytes top : arena.regions) regions.push_back(top.value());
  return {{"name", arena.name},
          {"memory", arena.memory.index()},
          {"kind", to_string(arena.kind)},
          {"size", arena.size.value()},
          {"regions", regions},
          {"lower_bound", arena.lower_bound.value()},
          {"proven_optimal", arena.proven_optimal}};
}

/// The fields that say where something lies.
template <class Placed>
void append_place(OrderedJson& json, const Placed& placed) {
  json["arena"] = placed.arena.index();
  if (placed.region != 0) json["region"] = placed.region;
  json["offset"] = placed.offset.value();
  json["size"] = placed.size.value();
}

OrderedJson placement_to_json(const Placement& placement) {
  OrderedJson json = OrderedJson::object();
  json["tensor"] = placement.tensor.index();
  append_place(json, placement);
  return json;
}

OrderedJson workspace_to_json(const WorkspacePlacement& workspace) {
  OrderedJson json{{"op", workspace.op.index()}, {"index", workspace.index}};
  append_place(json, workspace);
  return json;
}

OrderedJson note_to_json(const Note& note) { return {{"tensor", note.tensor.index()}, {"reason", note.reason}}; }

}  // namespace

Result<Plan> parse_plan(std::string_view text, const std::string& file) {
  STOWAGE_TRY(const io::JsonDocument document, io::parse_json(text, file));
  io::JsonErrors errors(document);
  Plan plan = read_plan(JsonValue(document, errors));
  if (errors.first()) return *errors.first();
  return plan;
}

std::string plan_to_json(const Plan& plan) {
  std::string text = "{\"schema\":\"stowage.plan/1\",\"graph\":" + io::to_line(plan.graph);
  io::append_list(text, "arenas", plan.arenas, arena_to_json);
  io::append_list(text, "placements", plan.placements, placement_to_json);
  io::append_list(text, "workspaces", plan.workspaces, workspace_to_json);
  text += ",\n";
  for (const std::string_view name : kLaterLists) text += fmt::format("\"{}\":[],", name);
  text.pop_back();
  io::append_list(text, "notes", plan.notes, note_to_json);
  return text + ",\n\"stats\":{}}\n";
}

}  // namespace stowage
