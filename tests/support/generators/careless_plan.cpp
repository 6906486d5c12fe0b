#include "support/generators/careless_plan.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace stowage::testing {
namespace {

bool is_carried(const Scope& scope, TensorId inner) {
  return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
}

/// Where a result of a loop lies: where the value comes in.
TensorId incoming(const Scope& scope, TensorId inner) {
  for (const Carried& pair : scope.carried) {
    if (pair.out == inner) return pair.in;
  }
  return inner;
}

bool has_input_group(const Op& op) { return op.contiguous_inputs != Contiguity::none && op.inputs.size() > 1; }
bool has_output_group(const Op& op) { return op.contiguous_outputs != Contiguity::none && op.outputs.size() > 1; }
bool contains(const std::vector<std::uint32_t>& list, std::uint32_t each) {
  return std::find(list.begin(), list.end(), each) != list.end();
}

}  // namespace

CarelessPlan::CarelessPlan(const Graph& graph, const Options& options)
    : graph_(graph),
      options_(options),
      random_(options.seed),
      tensors_(graph.tensors().size()),
      first_user_(graph.memories().size() * kArenasPerMemory),
      parent_(tensors_),
      offset_(tensors_) {
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  for (const Tensor& tensor : graph.tensors()) memory_.push_back(tensor.memory);
}

std::optional<Plan> CarelessPlan::make() {
  plan_.graph = graph_.name();
  // Whose padding is makes a difference only where sizes are not multiples of alignments.
  if (graph_.needs_addresses_only() && options_.seed % 2 == 1) plan_.padding = Padding::none;
  for (std::size_t m = 0; m < graph_.memories().size(); ++m) {
    for (const ArenaKind kind : {ArenaKind::shared, ArenaKind::persistent, ArenaKind::session, ArenaKind::fixed}) {
      plan_.arenas.push_back(
          {.name = "arena", .memory = MemoryId(m), .kind = kind, .size = {}, .regions = {Bytes(0)}, .lower_bound = {}});
    }
  }
  join_values();
  look_at_values();
  bind();
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    if (!join_inputs(OpId(k)) || !join_outputs(OpId(k))) return std::nullopt;
  }
  for (std::size_t s = 1; s < graph_.scopes().size(); ++s) join_body(ScopeId(s));
  place_units();
  place_workspaces();
  for (std::size_t i = 0; i < options_.moves; ++i) move();
  write();
  return plan_;
}

// --------------------------------------------------------------------------------------- what lies at fixed distances

CarelessPlan::NodePlace CarelessPlan::find(std::size_t node) const {
  std::int64_t distance = 0;
  while (parent_[node] != node) {
    distance += offset_[node];
    node = parent_[node];
  }
  return {node, distance};
}

std::size_t CarelessPlan::add_node(MemoryId memory) {
  parent_.push_back(parent_.size());
  offset_.push_back(0);
  memory_.push_back(memory);
  return parent_.size() - 1;
}

bool CarelessPlan::join(std::size_t inner, std::size_t outer, std::int64_t offset) {
  const NodePlace a = find(inner);
  const NodePlace b = find(outer);
  const std::int64_t wanted = b.offset + offset - a.offset;
  if (a.root == b.root) return wanted == 0;
  parent_[a.root] = b.root;
  offset_[a.root] = wanted;
  return true;
}

void CarelessPlan::join_values() {
  for (std::size_t t = 0; t < tensors_; ++t) {
    const ViewOf root = graph_.root(TensorId(t));
    join(t, root.tensor.index(), root.offset.value());
  }
  for (const Op& op : graph_.ops()) {
    for (const Alias& alias : op.aliases)
      join(op.outputs[alias.output].index(), op.inputs[alias.input]->index(), alias.offset.value());
  }
  for (std::size_t s = 1; s < graph_.scopes().size(); ++s) {
    const Scope& scope = graph_.scopes()[s];
    for (const BodyInput& pair : scope.inputs) {
      if (!is_carried(scope, pair.inner)) join(pair.inner, pair.outer);
    }
    if (graph_.op(scope.op).control != Control::loop) continue;
    for (const BodyOutput& pair : scope.outputs) join(incoming(scope, pair.inner), pair.outer);
  }
  for (std::size_t t = 0; t < tensors_; ++t) value_of_.push_back(find(t).root);
}

void CarelessPlan::look_at_values() {
  for (std::size_t t = 0; t < tensors_; ++t) {
    const Tensor& tensor = graph_.tensors()[t];
    ValueFacts& of = value(TensorId(t));
    of.flags |= tensor.flags;
    if (tensor.flags.has(TensorFlag::zero_copy)) ++of.zero_copy;
    if (tensor.flags.has(TensorFlag::output)) ++of.outputs;
    if (!graph_.scopes().front().contains(TensorId(t))) of.passed = true;
  }
  for (const Op& op : graph_.ops()) {
    const bool packed = op.contiguous_inputs == Contiguity::packed || op.contiguous_outputs == Contiguity::packed;
    for (const auto& input : op.inputs) {
      if (!input) continue;
      ValueFacts& of = value(*input);
      of.grouped |= has_input_group(op) || (has_output_group(op) && packed);
      of.fixed |= op.fixed_address && !op.no_task;
      of.passed |= op.control != Control::none;
    }
    for (const TensorId output : op.outputs) {
      ValueFacts& of = value(output);
      of.grouped |= has_output_group(op) || (has_input_group(op) && packed);
      of.fixed |= op.fixed_address && !op.no_task;
      of.passed |= op.control != Control::none;
      if (op.no_reuse) of.flags |= TensorFlag::no_reuse;
    }
    for (const std::uint32_t output : op.zero_fill.outputs) value(op.outputs[output]).filled = true;
  }
}

/// Not in memory of the plan.
bool CarelessPlan::is_elsewhere(std::size_t node) {
  if (node >= tensors_) return false;
  return bound_.contains(value_of_[node]) || value(TensorId(node)).flags.has(TensorFlag::external);
}

// -------------------------------------------------------------------------------------------------- groups and bodies

void CarelessPlan::bind() {
  for (std::size_t t = 0; t < graph_.scopes().front().tensor_count; ++t) {
    const TensorId id(t);
    const ValueFacts& of = value(id);
    const bool wanted =
        graph_.tensor(id).flags.has(TensorFlag::zero_copy) && graph_.memory(graph_.tensor(id).memory).kind != "p2p";
    const bool shapes = of.flags.has(TensorFlag::shape_data) && !graph_.batches().empty();
    const bool alone =
        of.zero_copy == 1 && !shapes && of.outputs <= 1 && !of.grouped && !of.fixed && !of.filled && !of.passed;
    const auto members = std::count(value_of_.begin(), value_of_.end(), value_of_[t]);
    if (!wanted || !alone || of.flags.any_of(kOwnAddress) || members > 1 || !chance(80)) continue;
    bound_.insert(value_of_[t]);
    plan_.bindings.push_back({id, graph_.tensor(id).size, graph_.alignment(id)});
    if (!graph_.tensor(id).flags.has(TensorFlag::reusable) || !chance(70)) continue;
    const Bytes size = graph_.tensor(id).size;
    plan_.arenas.push_back({.name = "user",
                            .memory = graph_.tensor(id).memory,
                            .kind = ArenaKind::user,
                            .size = size,
                            .regions = {size},
                            .lower_bound = {},
                            .tensor = id});
  }
}

void CarelessPlan::copy(TensorId tensor, CopyMoment when, std::size_t node) {
  waiting_.push_back({{.tensor = tensor,
                       .when = when,
                       .arena = {},
                       .offset = {},
                       .size = graph_.tensor(tensor).size,
                       .reason = "test"},
                      node});
}

bool CarelessPlan::try_join(TensorId part, std::size_t node, std::int64_t offset) {
  if (is_persistent(part) || bound_.contains(value_of_[part.index()])) return false;
  if (chance(30)) return find(part.index()).root == find(node).root && join(part.index(), node, offset);
  return join(part.index(), node, offset);
}

bool CarelessPlan::join_inputs(OpId id) {
  const Op& op = graph_.op(id);
  if (!has_input_group(op)) return true;
  const bool packed = op.contiguous_inputs == Contiguity::packed;
  if (packed && is_persistent(op.outputs.front())) return false;
  std::vector<TensorId> members;
  for (const auto& input : op.inputs) {
    if (input) members.push_back(*input);
  }
  if (members.size() < 2) return false;
  const MemoryId memory = graph_.tensor(members.front()).memory;
  const std::size_t base = packed ? op.outputs.front().index() : add_node(memory);
  std::int64_t offset = 0;
  for (const TensorId input : members) {
    if (!try_join(input, base, offset)) {
      const std::size_t node = add_node(memory);
      sizes_[node] = graph_.tensor(input).size.value();
      if (op.fixed_address) pinned_.insert(node);
      join(node, base, offset);
      copy(input, CopyMoment::before(id), node);
    }
    offset += graph_.tensor(input).size.value();
  }
  return true;
}

bool CarelessPlan::join_outputs(OpId id) {
  const Op& op = graph_.op(id);
  if (!has_output_group(op)) return true;
  std::int64_t offset = 0;
  for (const TensorId output : op.outputs) {
    if (op.contiguous_outputs == Contiguity::padded) {
      if (!join(output.index(), op.outputs.front().index(), offset)) return false;
    } else if (is_persistent(*op.inputs.front()) || !try_join(output, op.inputs.front()->index(), offset)) {
      copy(output, CopyMoment::before(id), output.index());
    }
    offset += graph_.tensor(output).size.value();
  }
  return true;
}

void CarelessPlan::hand_over(TensorId from, TensorId to, CopyMoment when) {
  if (value_of_[from.index()] == value_of_[to.index()]) return;
  if (!try_join(from, to.index(), 0)) copy(from, when, to.index());
}

void CarelessPlan::join_body(ScopeId id) {
  const Scope& scope = graph_.scope(id);
  if (graph_.op(scope.op).control != Control::loop) {
    for (const BodyOutput& pair : scope.outputs) hand_over(pair.inner, pair.outer, CopyMoment::at_body_end());
    return;
  }
  for (const BodyInput& pair : scope.inputs) {
    if (is_carried(scope, pair.inner)) hand_over(pair.outer, pair.inner, CopyMoment::before(scope.op));
  }
  for (const Carried& pair : scope.carried) hand_over(pair.out, pair.in, CopyMoment::at_back_edge());
}

// ------------------------------------------------------------------------------------------------------------- places

void CarelessPlan::place_units() {
  for (std::size_t node = 0; node < parent_.size(); ++node) {
    if (!is_elsewhere(node)) add_to_unit(node);
  }
  for (auto& [root, unit] : units_) stack(unit);
}

void CarelessPlan::add_to_unit(std::size_t node) {
  const NodePlace at = find(node);
  const auto [entry, is_new] = units_.try_emplace(at.root);
  Unit& unit = entry->second;
  const std::size_t first = memory_[node].index() * kArenasPerMemory;
  const std::int64_t size = node < tensors_ ? graph_.tensors()[node].size.value() : sizes_[node];
  unit.lower = is_new ? at.offset : std::min(unit.lower, at.offset);
  unit.upper = is_new ? at.offset + size : std::max(unit.upper, at.offset + size);
  if (is_new) unit.arena = first + kShared;
  if (pinned_.contains(node)) unit.arena = first + kFixed;
  unit.guest &= node < tensors_;
  if (node >= tensors_) return;
  unit.members.emplace_back(at.offset, graph_.alignment(TensorId(node)).value());
  const ValueFacts& of = value(TensorId(node));
  if (is_persistent(TensorId(node))) unit.arena = first + kPersistent;
  if (of.fixed && unit.arena == first + kShared) unit.arena = first + kFixed;
  unit.guest &= !of.fixed && !of.filled && !of.grouped &&
                !of.flags.any_of({TensorFlag::input, TensorFlag::output, TensorFlag::no_reuse});
}

/// On top of the others, or in a region of its own where the memory has small buffers.
void CarelessPlan::stack(Unit& unit) {
  const std::size_t kind = unit.arena % kArenasPerMemory;
  unit.movable = kind == kShared || kind == kFixed;
  Arena& arena = plan_.arenas[unit.arena];
  if (graph_.memory(arena.memory).max_size && arena.regions.back() > Bytes(0)) arena.regions.emplace_back(0);
  unit.region = static_cast<std::uint32_t>(arena.regions.size() - 1);
  Bytes& top = arena.regions.back();
  unit.offset = top.value() - unit.lower;
  const auto is_right = [&](const auto& member) { return (unit.offset + member.first) % member.second == 0; };
  for (int tries = 0; tries < 128 && !std::all_of(unit.members.begin(), unit.members.end(), is_right); ++tries)
    ++unit.offset;
  top = end_of(unit);
}

/// With padding, if it belongs to the unit.
Bytes CarelessPlan::end_of(const Unit& unit) const {
  std::int64_t alignment = 1;
  for (const auto& member : unit.members) alignment = std::max(alignment, member.second);
  const bool padded = plan_.padding == Padding::own;
  const Bytes size(unit.upper - unit.lower);
  return Bytes(unit.offset + unit.lower) + (padded ? align_up(size, Bytes(alignment)) : size);
}

void CarelessPlan::place_workspaces() {
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    const Op& op = graph_.ops()[k];
    for (std::uint32_t w = 0; w < op.workspaces.size(); ++w) {
      const Workspace& workspace = op.workspaces[w];
      const std::size_t first = workspace.memory.index() * kArenasPerMemory;
      Scratch scratch{OpId(k), w, {}};
      scratch.unit.arena = first + (op.fixed_address && !op.no_task ? kFixed : kShared);
      scratch.unit.upper = workspace.size.value();
      scratch.unit.members = {{0, graph_.alignment(workspace).value()}};
      if (workspace.scope == WorkspaceScope::session && !op.no_task) scratch.unit.arena = first + kSession;
      scratch.unit.guest =
          !op.fixed_address && !workspace.no_reuse && !op.no_reuse && !contains(op.zero_fill.workspaces, w);
      stack(scratch.unit);
      scratch_.push_back(scratch);
    }
  }
}

// -------------------------------------------------------------------------------------------------------------- moves

CarelessPlan::Unit& CarelessPlan::pick_unit() {
  const std::size_t chosen = below(units_.size() + scratch_.size());
  if (chosen >= units_.size()) return scratch_[chosen - units_.size()].unit;
  return std::next(units_.begin(), static_cast<std::ptrdiff_t>(chosen))->second;
}

void CarelessPlan::move() {
  if ((units_.empty() && scratch_.empty()) || graph_.ops().empty()) return;
  const Op& op = graph_.ops()[below(graph_.ops().size())];
  if (!op.in_place.empty() && chance(50)) {
    const InPlacePair pair = op.in_place[below(op.in_place.size())];
    move_in_place(op.outputs[pair.output], *op.inputs[pair.input]);
    return;
  }
  Unit& unit = pick_unit();
  if (move_to_caller(unit)) return;
  const Unit& onto = pick_unit();
  if (!unit.movable || unit.arena != onto.arena) return;
  unit.region = onto.region;
  unit.offset = onto.offset + onto.lower - unit.lower + static_cast<std::int64_t>(8 * below(3));
  grow(unit);
}

bool CarelessPlan::move_to_caller(Unit& unit) {
  const bool shared = unit.arena < first_user_ && unit.arena % kArenasPerMemory == kShared;
  if (!unit.guest || !shared || plan_.arenas.size() == first_user_ || !chance(30)) return false;
  const std::size_t arena = first_user_ + below(plan_.arenas.size() - first_user_);
  if (Bytes(unit.upper - unit.lower) > plan_.arenas[arena].size) return true;
  unit.arena = arena;
  unit.offset = -unit.lower;
  unit.movable = false;
  return true;
}

void CarelessPlan::move_in_place(TensorId out, TensorId in) {
  if (is_elsewhere(out.index()) || is_elsewhere(in.index())) return;
  const NodePlace to = find(out.index());
  const NodePlace from = find(in.index());
  Unit& unit = units_.at(to.root);
  const Unit& onto = units_.at(from.root);
  if (to.root == from.root || !unit.movable || unit.arena != onto.arena) return;
  unit.region = onto.region;
  unit.offset = onto.offset + from.offset - to.offset;
  if (unit.offset + unit.lower < 0 && !graph_.needs_addresses_only()) unit.offset = -unit.lower;
  grow(unit);
}

/// Now and then the region is too small, where that may be broken.
void CarelessPlan::grow(const Unit& unit) {
  if (graph_.needs_addresses_only() && chance(10)) return;
  Bytes& top = plan_.arenas[unit.arena].regions[unit.region];
  top = std::max(top, end_of(unit));
}

// ----------------------------------------------------------------------------------------------------------- the plan

void CarelessPlan::write() {
  for (const Scratch& scratch : scratch_) {
    const Unit& unit = scratch.unit;
    parts_.push_back({.arena = ArenaId(unit.arena), .workspaces = {plan_.workspaces.size()}});
    plan_.workspaces.push_back(
        {scratch.op, scratch.index, ArenaId(unit.arena), unit.region, Bytes(unit.offset), Bytes(unit.upper)});
  }
  for (std::size_t t = 0; t < tensors_; ++t) {
    if (is_elsewhere(t)) continue;
    const NodePlace at = find(t);
    const Unit& unit = units_.at(at.root);
    part_of(at.root).placements.push_back(plan_.placements.size());
    plan_.placements.push_back(
        {TensorId(t), ArenaId(unit.arena), unit.region, Bytes(unit.offset + at.offset), graph_.tensors()[t].size});
  }
  write_copies();
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) write_clears(OpId(k));
  for (Arena& arena : plan_.arenas) {
    arena.size = Bytes(0);
    for (const Bytes region : arena.regions) arena.size += region;
    arena.proven_optimal = arena.size == Bytes(0);
  }
}

RigidPart& CarelessPlan::part_of(std::size_t root) {
  const auto [entry, is_new] = part_of_root_.try_emplace(root, parts_.size());
  if (is_new) parts_.push_back({.arena = ArenaId(units_.at(root).arena)});
  return parts_[entry->second];
}

void CarelessPlan::write_copies() {
  for (WaitingCopy& waiting : waiting_) {
    const NodePlace at = find(waiting.node);
    const Unit& unit = units_.at(at.root);
    waiting.copy.arena = ArenaId(unit.arena);
    waiting.copy.offset = Bytes(unit.offset + at.offset);
    part_of(at.root).copies.push_back(plan_.copies.size());
    plan_.copies.push_back(waiting.copy);
  }
}

bool CarelessPlan::in_loop(OpId op) const {
  for (ScopeId scope = graph_.scope_of(op); scope != ScopeId(0); scope = graph_.scope(scope).parent) {
    if (graph_.op(graph_.scope(scope).op).control == Control::loop) return true;
  }
  return false;
}

void CarelessPlan::write_clears(OpId id) {
  const Op& op = graph_.op(id);
  if (op.zero_fill.outputs.empty() && op.zero_fill.workspaces.empty()) return;
  const bool separate = in_loop(id) || !op.batch.empty() || chance(60);
  const Clear clear{
      .arena = {}, .offset = {}, .size = {}, .value = op.zero_fill.value, .before = separate ? id : OpId(0)};
  for (const std::uint32_t output : op.zero_fill.outputs) {
    const NodePlace at = find(op.outputs[output].index());
    Clear of_output = clear;
    of_output.offset = Bytes(at.offset);
    of_output.size = graph_.tensor(op.outputs[output]).size;
    write_clear(part_of(at.root), units_.at(at.root), of_output);
  }
  for (std::size_t s = 0; s < scratch_.size(); ++s) {
    const Scratch& scratch = scratch_[s];
    if (scratch.op != id || !contains(op.zero_fill.workspaces, scratch.index)) continue;
    Clear of_workspace = clear;
    of_workspace.size = Bytes(scratch.unit.upper);
    write_clear(parts_[s], scratch.unit, of_workspace);
  }
}

/// The offset of `clear` counts from the unit's representative.
void CarelessPlan::write_clear(RigidPart& part, const Unit& unit, Clear clear) {
  if (clear.size == Bytes(0)) return;
  clear.arena = ArenaId(unit.arena);
  clear.region = unit.region;
  clear.offset += Bytes(unit.offset);
  part.clears.push_back(plan_.clears.size());
  plan_.clears.push_back(clear);
}

}  // namespace stowage::testing
