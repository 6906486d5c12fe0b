#include <cstdint>
#include <iterator>
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
constexpr Name kPlanFields[] = {"schema",   "graph",  "padding", "arenas",  "placements", "workspaces", "clears",
                                "bindings", "copies", "edges",   "program", "notes",      "stats"};
constexpr Name kArenaFields[] = {"name",        "memory",         "kind",   "size", "regions",
                                 "lower_bound", "proven_optimal", "tensor", "proof"};
constexpr Name kProofFields[] = {"argument", "op", "body", "alignment", "tensors", "workspaces"};
constexpr Name kProofTensorFields[] = {"tensor", "body"};
constexpr Name kProofWorkspaceFields[] = {"op", "index", "body"};
constexpr Name kPlacementFields[] = {"tensor", "arena", "region", "offset", "size", "body", "name"};
constexpr Name kWorkspaceFields[] = {"op", "index", "arena", "region", "offset", "size", "body", "name"};
constexpr Name kClearFields[] = {"arena", "region", "offset", "size", "value", "before", "body"};
constexpr Name kBindingFields[] = {"tensor", "size", "alignment", "name"};
constexpr Name kCopyFields[] = {"tensor", "before", "arena", "region", "offset", "size", "reason", "body", "name"};
constexpr Name kNoteFields[] = {"tensor", "reason", "body", "name"};
constexpr Name kStepFields[] = {"bind", "fill", "copy", "op", "record", "wait", "stream", "batch", "body"};
/// In the order of ProgramStep::Kind.
constexpr Name kStepKinds[] = {"bind", "fill", "copy", "op", "record", "wait"};

constexpr std::int64_t kMaxPosition = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kBackEdge = -1;
constexpr ArenaKind kKinds[] = {ArenaKind::shared,     ArenaKind::fixed, ArenaKind::session,
                                ArenaKind::persistent, ArenaKind::ring,  ArenaKind::user};
constexpr BoundProof::Argument kArguments[] = {BoundProof::Argument::none,    BoundProof::Argument::live_bytes,
                                               BoundProof::Argument::aligned, BoundProof::Argument::unordered,
                                               BoundProof::Argument::given,   BoundProof::Argument::search,
                                               BoundProof::Argument::choices};

// --------------------------------------------------------------------------------------------------------------- read

ArenaKind read_kind(const JsonValue& value) {
  const std::string name = value.text();
  for (const ArenaKind kind : kKinds) {
    if (to_string(kind) == name) return kind;
  }
  value.fail(ErrorCode::parse, fmt::format("unknown arena kind '{}'", name));
  return ArenaKind::shared;
}

Padding read_padding(const JsonValue& value) {
  const std::string name = value.text();
  for (const Padding padding : {Padding::own, Padding::none}) {
    if (to_string(padding) == name) return padding;
  }
  value.fail(ErrorCode::parse, fmt::format("unknown padding '{}': it is own or none", name));
  return Padding::own;
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

/// What the file calls the tensor or op of the entry; empty: it does not say.
std::string read_name(const JsonValue& entry) {
  const auto field = entry.find("name");
  return field ? field->text() : std::string();
}

BoundProof::Argument read_argument(const JsonValue& value) {
  const std::string name = value.text();
  for (const BoundProof::Argument argument : kArguments) {
    if (to_string(argument) == name) return argument;
  }
  value.fail(ErrorCode::parse, fmt::format("unknown argument '{}'", name));
  return BoundProof::Argument::none;
}

ProofInFile read_proof(const JsonValue& value) {
  value.allow_fields(kProofFields);
  ProofInFile proof{.argument = read_argument(value.require("argument"))};
  if (const auto field = value.find("op")) proof.op = {OpId(field->position()), read_body(value)};
  if (const auto field = value.find("alignment")) proof.alignment = field->bytes();
  const auto read_tensor = [](const JsonValue& entry) {
    entry.allow_fields(kProofTensorFields);
    return InBody<TensorId>{TensorId(entry.require("tensor").position()), read_body(entry)};
  };
  const auto read_workspace = [](const JsonValue& entry) {
    entry.allow_fields(kProofWorkspaceFields);
    return InBody<WorkspaceId>{{OpId(entry.require("op").position()), entry.require("index").position()},
                               read_body(entry)};
  };
  if (const auto field = value.find("tensors")) proof.tensors = field->list(read_tensor);
  if (const auto field = value.find("workspaces")) proof.workspaces = field->list(read_workspace);
  return proof;
}

/// Of the arenas, in their order, up to the last one with a proof.
std::vector<ProofInFile> read_proofs(const JsonValue& arenas) {
  std::vector<ProofInFile> proofs = arenas.list([](const JsonValue& arena) {
    const auto field = arena.find("proof");
    return field ? read_proof(*field) : ProofInFile{};
  });
  while (!proofs.empty() && proofs.back() == ProofInFile{}) proofs.pop_back();
  return proofs;
}

InBody<Placement> read_placement(const JsonValue& value) {
  value.allow_fields(kPlacementFields);
  return {{.tensor = TensorId(value.require("tensor").position()),
           .arena = ArenaId(value.require("arena").position()),
           .region = read_region(value),
           .offset = value.require("offset").bytes(),
           .size = value.require("size").bytes()},
          read_body(value),
          read_name(value)};
}

InBody<WorkspacePlacement> read_workspace(const JsonValue& value) {
  value.allow_fields(kWorkspaceFields);
  return {{.op = OpId(value.require("op").position()),
           .index = value.require("index").position(),
           .arena = ArenaId(value.require("arena").position()),
           .region = read_region(value),
           .offset = value.require("offset").bytes(),
           .size = value.require("size").bytes()},
          read_body(value),
          read_name(value)};
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

InBody<Binding> read_binding(const JsonValue& value) {
  value.allow_fields(kBindingFields);
  return {{.tensor = TensorId(value.require("tensor").position()),
           .size = value.require("size").bytes(),
           .alignment = value.require("alignment").bytes()},
          {},
          read_name(value)};
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
          read_body(value),
          read_name(value)};
}

Edge read_edge(const JsonValue& value) {
  if (const std::size_t count = value.size(); count != 2) {
    value.fail(ErrorCode::parse, fmt::format("must have 2 elements, not {}", count));
    return {};
  }
  return {OpId(value.element(0).position()), OpId(value.element(1).position())};
}

/// Whether a file says the stream of such a step, and whether it must.
bool may_have_stream(ProgramStep::Kind kind) {
  return kind == ProgramStep::Kind::fill || kind >= ProgramStep::Kind::record;
}
bool has_stream(ProgramStep::Kind kind) { return kind >= ProgramStep::Kind::record; }

InBody<StepInFile> read_step(const JsonValue& value) {
  value.allow_fields(kStepFields);
  InBody<StepInFile> step{{}, read_body(value)};
  std::size_t found = 0;
  for (std::size_t k = 0; k < std::size(kStepKinds); ++k) {
    const auto field = value.find(kStepKinds[k]);
    if (!field) continue;
    ++found;
    step.entry.kind = static_cast<ProgramStep::Kind>(k);
    step.entry.index = field->position();
  }
  if (found != 1)
    value.fail(ErrorCode::parse,
               fmt::format("must have exactly one of {}, not {}", fmt::join(kStepKinds, ", "), found));
  const auto stream = value.find("stream");
  if (stream && !may_have_stream(step.entry.kind))
    stream->fail(ErrorCode::parse, "only records, waits and fills say their stream");
  if (stream || has_stream(step.entry.kind)) step.entry.stream = StreamId(value.require("stream").position());
  if (const auto batch = value.find("batch")) step.entry.batch = batch->text();
  return step;
}

InBody<Note> read_note(const JsonValue& value) {
  value.allow_fields(kNoteFields);
  return {{.tensor = TensorId(value.require("tensor").position()), .reason = value.require("reason").text()},
          read_body(value),
          read_name(value)};
}

PlanFile read_plan(const JsonValue& value) {
  value.require_schema("stowage.plan/");
  value.allow_fields(kPlanFields);
  PlanFile plan;
  if (const auto field = value.find("graph")) plan.graph = field->text();
  if (const auto field = value.find("padding")) plan.padding = read_padding(*field);
  if (const auto field = value.find("arenas")) {
    plan.arenas = field->list(read_arena);
    plan.proofs = read_proofs(*field);
  }
  if (const auto field = value.find("placements")) plan.placements = field->list(read_placement);
  if (const auto field = value.find("workspaces")) plan.workspaces = field->list(read_workspace);
  if (const auto field = value.find("clears")) plan.clears = field->list(read_clear);
  if (const auto field = value.find("bindings")) plan.bindings = field->list(read_binding);
  if (const auto field = value.find("copies")) plan.copies = field->list(read_copy);
  if (const auto field = value.find("edges")) plan.edges = field->list(read_edge);
  if (const auto field = value.find("program")) plan.program = field->list(read_step);
  if (const auto field = value.find("notes")) plan.notes = field->list(read_note);
  if (const auto field = value.find("stats")) field->require_object();
  return plan;
}

// -------------------------------------------------------------------------------------------------------------- write

/// Appends the body whose ids the entry uses, unless that is the root.
template <class Entry>
void append_body(OrderedJson& json, const InBody<Entry>& entry) {
  if (!entry.body.empty()) json["body"] = entry.body;
}

/// Appends the name of what the entry is about, unless it is empty.
template <class Entry>
void append_name(OrderedJson& json, const InBody<Entry>& entry) {
  if (!entry.name.empty()) json["name"] = entry.name;
}

OrderedJson proof_to_json(const ProofInFile& proof) {
  OrderedJson json{{"argument", to_string(proof.argument)}};
  if (proof.op) {
    json["op"] = proof.op->entry.index();
    append_body(json, *proof.op);
  }
  if (proof.alignment != Bytes(1)) json["alignment"] = proof.alignment.value();
  for (const InBody<TensorId>& tensor : proof.tensors) {
    OrderedJson entry{{"tensor", tensor.entry.index()}};
    append_body(entry, tensor);
    json["tensors"].push_back(std::move(entry));
  }
  for (const InBody<WorkspaceId>& workspace : proof.workspaces) {
    OrderedJson entry{{"op", workspace.entry.op.index()}, {"index", workspace.entry.index}};
    append_body(entry, workspace);
    json["workspaces"].push_back(std::move(entry));
  }
  return json;
}

OrderedJson arena_to_json(const Arena& arena, const ProofInFile& proof) {
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
  if (proof.argument != BoundProof::Argument::none) json["proof"] = proof_to_json(proof);
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

OrderedJson placement_to_json(const InBody<Placement>& placement) {
  OrderedJson json = OrderedJson::object();
  json["tensor"] = placement.entry.tensor.index();
  append_name(json, placement);
  append_place(json, placement.entry);
  append_body(json, placement);
  return json;
}

OrderedJson workspace_to_json(const InBody<WorkspacePlacement>& workspace) {
  OrderedJson json{{"op", workspace.entry.op.index()}, {"index", workspace.entry.index}};
  append_name(json, workspace);
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

OrderedJson binding_to_json(const InBody<Binding>& binding) {
  OrderedJson json{{"tensor", binding.entry.tensor.index()}};
  append_name(json, binding);
  json["size"] = binding.entry.size.value();
  json["alignment"] = binding.entry.alignment.value();
  return json;
}

OrderedJson copy_to_json(const InBody<Copy>& copy) {
  const CopyMoment when = copy.entry.when;
  const bool back_edge = when.kind == CopyMoment::Kind::back_edge;
  OrderedJson json{{"tensor", copy.entry.tensor.index()}};
  append_name(json, copy);
  json["before"] = back_edge ? kBackEdge : static_cast<std::int64_t>(when.op.index());
  append_place(json, copy.entry);
  json["reason"] = copy.entry.reason;
  append_body(json, copy);
  return json;
}

OrderedJson edge_to_json(const Edge& edge) { return OrderedJson::array({edge.from.index(), edge.to.index()}); }

OrderedJson step_to_json(const InBody<StepInFile>& step) {
  OrderedJson json{{std::string(kStepKinds[static_cast<std::size_t>(step.entry.kind)]), step.entry.index}};
  if (step.entry.stream) json["stream"] = step.entry.stream->index();
  if (!step.entry.batch.empty()) json["batch"] = step.entry.batch;
  append_body(json, step);
  return json;
}

OrderedJson note_to_json(const InBody<Note>& note) {
  OrderedJson json{{"tensor", note.entry.tensor.index()}};
  append_name(json, note);
  json["reason"] = note.entry.reason;
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
  if (plan.padding != Padding::own) text += ",\n\"padding\":" + files::to_line(to_string(plan.padding));
  std::size_t arena = 0;
  files::append_list(text, "arenas", plan.arenas, [&](const Arena& each) {
    const std::size_t number = arena++;
    return arena_to_json(each, number < plan.proofs.size() ? plan.proofs[number] : ProofInFile{});
  });
  files::append_list(text, "placements", plan.placements, placement_to_json);
  files::append_list(text, "workspaces", plan.workspaces, workspace_to_json);
  files::append_list(text, "clears", plan.clears, clear_to_json);
  files::append_list(text, "bindings", plan.bindings, binding_to_json);
  files::append_list(text, "copies", plan.copies, copy_to_json);
  files::append_list(text, "edges", plan.edges, edge_to_json);
  if (plan.program) files::append_list(text, "program", *plan.program, step_to_json);
  files::append_list(text, "notes", plan.notes, note_to_json);
  return text + ",\n\"stats\":{}}\n";
}

std::string plan_to_json(const Graph& graph, const Plan& plan) { return plan_to_json(localise(graph, plan)); }

}  // namespace stowage
