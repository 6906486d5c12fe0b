#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// For tests: plans of graphs with every constraint, made without a planner.
namespace stowage::oracle {

/// Everything at a place of its own, groups and pairs joined or copied at random, then some of it moved onto others.
class ConstraintPlan {
 public:
  enum Arenas : std::size_t { kShared, kPersistent, kSession, kFixed, kFirstUser };

  ConstraintPlan(const Graph& graph, std::uint64_t seed, std::size_t moves)
      : graph_(graph), random_(seed), moves_(moves), tensors_(graph.tensors().size()), parent_(tensors_), offset_(tensors_) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  /// Nothing where the groups of the graph contradict each other in a way that no copy solves.
  std::optional<Plan> make() {
    plan_.graph = graph_.name();
    for (const ArenaKind kind : {ArenaKind::shared, ArenaKind::persistent, ArenaKind::session, ArenaKind::fixed}) {
      plan_.arenas.push_back({.name = "arena", .memory = {}, .kind = kind, .size = {}, .regions = {Bytes(0)}, .lower_bound = {}});
    }
    join_classes();
    look_at_classes();
    bind();
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      if (!join_groups(OpId(k))) return std::nullopt;
    }
    for (std::size_t s = 1; s < graph_.scopes().size(); ++s) join_body(ScopeId(s));
    place_units();
    place_workspaces();
    for (std::size_t i = 0; i < moves_; ++i) move();
    write();
    return plan_;
  }

 private:
  struct At {
    std::size_t root;
    std::int64_t offset;
  };
  struct Unit {
    std::size_t arena = kShared;
    std::int64_t lower = 0;  ///< Relative to the representative.
    std::int64_t upper = 0;
    std::int64_t offset = 0;  ///< Of the representative.
    bool movable = true;
    bool guest = true;  ///< It may lie in a caller's buffer.
  };
  struct Class {
    TensorFlags flags;
    bool fixed = false;
    bool filled = false;
    bool grouped = false;
    bool passed = false;
    std::size_t zero_copy = 0;
    std::size_t outputs = 0;
  };
  struct Waiting {
    Copy copy;
    std::size_t node;  ///< Whose place it goes to.
  };
  struct Scratch {
    OpId op;
    std::uint32_t index;
    Unit unit;
  };

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  bool chance(std::size_t percent) { return below(100) < percent; }

  // ----- what lies at fixed distances

  At find(std::size_t node) const {
    std::int64_t distance = 0;
    while (parent_[node] != node) {
      distance += offset_[node];
      node = parent_[node];
    }
    return {node, distance};
  }
  std::size_t add_node() {
    parent_.push_back(parent_.size());
    offset_.push_back(0);
    return parent_.size() - 1;
  }
  bool join(std::size_t inner, std::size_t outer, std::int64_t offset) {
    const At a = find(inner);
    const At b = find(outer);
    const std::int64_t wanted = b.offset + offset - a.offset;
    if (a.root == b.root) return wanted == 0;
    parent_[a.root] = b.root;
    offset_[a.root] = wanted;
    return true;
  }
  bool join(TensorId inner, TensorId outer) { return join(inner.index(), outer.index(), 0); }

  void join_classes() {
    for (std::size_t t = 0; t < tensors_; ++t) {
      const Graph::Root root = graph_.root(TensorId(t));
      join(t, root.tensor.index(), root.offset.value());
    }
    for (const Op& op : graph_.ops()) {
      for (const Alias& alias : op.aliases)
        join(op.outputs[alias.output].index(), op.inputs[alias.input]->index(), alias.offset.value());
    }
    for (std::size_t s = 1; s < graph_.scopes().size(); ++s) {
      const Scope& scope = graph_.scopes()[s];
      for (const BodyInput& pair : scope.inputs) {
        if (!carried_to(scope, pair.inner)) join(pair.inner, pair.outer);
      }
      if (graph_.op(scope.op).control != Control::loop) continue;
      for (const BodyOutput& pair : scope.outputs) join(incoming(scope, pair.inner), pair.outer);
    }
    for (std::size_t t = 0; t < tensors_; ++t) class_of_.push_back(find(t).root);
  }

  static bool carried_to(const Scope& scope, TensorId inner) {
    return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
  }
  static TensorId incoming(const Scope& scope, TensorId inner) {
    for (const Carried& pair : scope.carried) {
      if (pair.out == inner) return pair.in;
    }
    return inner;
  }

  Class& klass(TensorId tensor) { return classes_[class_of_[tensor.index()]]; }

  void look_at_classes() {
    for (std::size_t t = 0; t < tensors_; ++t) {
      const Tensor& tensor = graph_.tensors()[t];
      Class& of = klass(TensorId(t));
      of.flags |= tensor.flags;
      if (tensor.flags.has(TensorFlag::zero_copy)) ++of.zero_copy;
      if (tensor.flags.has(TensorFlag::output)) ++of.outputs;
      if (!graph_.scopes().front().contains(TensorId(t))) of.passed = true;
    }
    for (const Op& op : graph_.ops()) {
      const bool inputs = op.contiguous_inputs != Contiguity::none && op.inputs.size() > 1;
      const bool outputs = op.contiguous_outputs != Contiguity::none && op.outputs.size() > 1;
      const bool packed = op.contiguous_inputs == Contiguity::packed || op.contiguous_outputs == Contiguity::packed;
      for (const auto& input : op.inputs) {
        klass(*input).grouped |= inputs || (outputs && packed);
        klass(*input).fixed |= op.fixed_address;
        klass(*input).passed |= op.control != Control::none;
      }
      for (const TensorId output : op.outputs) {
        klass(output).grouped |= outputs || (inputs && packed);
        klass(output).fixed |= op.fixed_address;
        klass(output).passed |= op.control != Control::none;
        if (op.no_reuse) klass(output).flags |= TensorFlag::no_reuse;
      }
      for (const std::uint32_t output : op.zero_fill.outputs) klass(op.outputs[output]).filled = true;
    }
  }

  void bind() {
    for (std::size_t t = 0; t < graph_.scopes().front().tensor_count; ++t) {
      const TensorId id(t);
      const Class& of = klass(id);
      const bool wanted = graph_.tensor(id).flags.has(TensorFlag::zero_copy);
      const bool alone = of.zero_copy == 1 && of.outputs <= 1 && !of.grouped && !of.fixed && !of.filled && !of.passed;
      const auto members = std::count(class_of_.begin(), class_of_.end(), class_of_[t]);
      if (!wanted || !alone || of.flags.any_of(kOwnAddress) || members > 1 || !chance(80)) continue;
      bound_.insert(class_of_[t]);
      plan_.bindings.push_back({id, graph_.tensor(id).size, graph_.alignment(id)});
      if (!graph_.tensor(id).flags.has(TensorFlag::reusable) || !chance(70)) continue;
      const Bytes size = graph_.tensor(id).size;
      plan_.arenas.push_back({.name = "user",
                              .memory = {},
                              .kind = ArenaKind::user,
                              .size = size,
                              .regions = {size},
                              .lower_bound = {},
                              .tensor = id});
    }
  }

  // ----- groups and bodies

  [[nodiscard]] bool is_persistent(TensorId tensor) {
    return klass(tensor).flags.any_of({TensorFlag::constant, TensorFlag::variable});
  }

  TensorId local(TensorId tensor) const {
    return TensorId(tensor.index() - graph_.scope(graph_.scope_of(tensor)).first_tensor.index());
  }

  void copy(TensorId tensor, ScopeId scope, std::int64_t before, std::size_t node) {
    waiting_.push_back({{.tensor = local(tensor),
                         .before = before,
                         .arena = {},
                         .offset = {},
                         .size = graph_.tensor(tensor).size,
                         .reason = "test",
                         .body = graph_.path(scope)},
                        node});
  }

  bool try_join(TensorId part, std::size_t node, std::int64_t offset) {
    if (is_persistent(part) || bound_.contains(class_of_[part.index()])) return false;
    if (chance(30)) return find(part.index()).root == find(node).root && join(part.index(), node, offset);
    return join(part.index(), node, offset);
  }

  bool join_groups(OpId id) {
    const Op& op = graph_.op(id);
    const ScopeId scope = graph_.scope_of(id);
    const auto before = static_cast<std::int64_t>(id.index() - graph_.scope(scope).first_op.index());
    if (op.contiguous_inputs != Contiguity::none && op.inputs.size() > 1) {
      const std::size_t base = op.contiguous_inputs == Contiguity::packed ? op.outputs.front().index() : add_node();
      if (op.contiguous_inputs == Contiguity::packed && is_persistent(op.outputs.front())) return false;
      std::int64_t offset = 0;
      for (const auto& input : op.inputs) {
        if (!try_join(*input, base, offset)) {
          const std::size_t node = add_node();
          sizes_[node] = graph_.tensor(*input).size.value();
          if (op.fixed_address) pinned_.insert(node);
          join(node, base, offset);
          copy(*input, scope, before, node);
        }
        offset += graph_.tensor(*input).size.value();
      }
    }
    if (op.contiguous_outputs == Contiguity::none || op.outputs.size() < 2) return true;
    std::int64_t offset = 0;
    for (const TensorId output : op.outputs) {
      if (op.contiguous_outputs == Contiguity::padded) {
        if (!join(output.index(), op.outputs.front().index(), offset)) return false;
      } else if (is_persistent(*op.inputs.front()) || !try_join(output, op.inputs.front()->index(), offset)) {
        copy(output, scope, before, output.index());
      }
      offset += graph_.tensor(output).size.value();
    }
    return true;
  }

  void hand_over(TensorId from, TensorId to, ScopeId scope, std::int64_t before) {
    if (class_of_[from.index()] == class_of_[to.index()]) return;
    if (!try_join(from, to.index(), 0)) copy(from, scope, before, to.index());
  }

  void join_body(ScopeId id) {
    const Scope& scope = graph_.scope(id);
    if (graph_.op(scope.op).control != Control::loop) {
      for (const BodyOutput& pair : scope.outputs)
        hand_over(pair.inner, pair.outer, id, static_cast<std::int64_t>(scope.op_count));
      return;
    }
    const auto before = static_cast<std::int64_t>(scope.op.index() - graph_.scope(scope.parent).first_op.index());
    for (const BodyInput& pair : scope.inputs) {
      if (carried_to(scope, pair.inner)) hand_over(pair.outer, pair.inner, scope.parent, before);
    }
    for (const Carried& pair : scope.carried) hand_over(pair.out, pair.in, id, Copy::kBackEdge);
  }

  // ----- places

  void place_units() {
    for (std::size_t node = 0; node < parent_.size(); ++node) {
      if (node < tensors_ && bound_.contains(class_of_[node])) continue;
      const At at = find(node);
      const auto [entry, is_new] = units_.try_emplace(at.root);
      Unit& unit = entry->second;
      const std::int64_t size = node < tensors_ ? graph_.tensors()[node].size.value() : sizes_[node];
      unit.lower = is_new ? at.offset : std::min(unit.lower, at.offset);
      unit.upper = is_new ? at.offset + size : std::max(unit.upper, at.offset + size);
      if (pinned_.contains(node)) unit.arena = kFixed;
      unit.guest &= node < tensors_;
      if (node >= tensors_) continue;
      const Class& of = klass(TensorId(node));
      if (is_persistent(TensorId(node))) unit.arena = kPersistent;
      if (of.fixed && unit.arena == kShared) unit.arena = kFixed;
      unit.guest &= !of.fixed && !of.filled && !of.grouped &&
                    !of.flags.any_of({TensorFlag::input, TensorFlag::output, TensorFlag::no_reuse});
    }
    for (auto& [root, unit] : units_) stack(unit);
  }

  void stack(Unit& unit) {
    unit.movable = unit.arena == kShared || unit.arena == kFixed;
    Bytes& top = plan_.arenas[unit.arena].regions.front();
    unit.offset = top.value() - unit.lower;
    top += Bytes(unit.upper - unit.lower);
  }

  void place_workspaces() {
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      for (std::uint32_t w = 0; w < op.workspaces.size(); ++w) {
        Scratch scratch{OpId(k), w, {}};
        scratch.unit.upper = op.workspaces[w].size.value();
        if (op.fixed_address) scratch.unit.arena = kFixed;
        if (op.workspaces[w].scope == WorkspaceScope::session) scratch.unit.arena = kSession;
        const auto& filled = op.zero_fill.workspaces;
        scratch.unit.guest = !op.fixed_address && std::find(filled.begin(), filled.end(), w) == filled.end();
        stack(scratch.unit);
        scratch_.push_back(scratch);
      }
    }
  }

  Unit& pick_unit() {
    const std::size_t chosen = below(units_.size() + scratch_.size());
    if (chosen >= units_.size()) return scratch_[chosen - units_.size()].unit;
    return std::next(units_.begin(), static_cast<std::ptrdiff_t>(chosen))->second;
  }

  void move() {
    if (units_.empty() && scratch_.empty()) return;
    const Op& op = graph_.ops()[below(graph_.ops().size())];
    if (!op.in_place.empty() && chance(50)) {
      const InPlacePair pair = op.in_place[below(op.in_place.size())];
      move_in_place(op.outputs[pair.output], *op.inputs[pair.input]);
      return;
    }
    Unit& unit = pick_unit();
    if (unit.guest && unit.arena == kShared && plan_.arenas.size() > kFirstUser && chance(30)) {
      const std::size_t arena = kFirstUser + below(plan_.arenas.size() - kFirstUser);
      if (Bytes(unit.upper - unit.lower) > plan_.arenas[arena].size) return;
      unit.arena = arena;
      unit.offset = -unit.lower;
      unit.movable = false;
      return;
    }
    const Unit& onto = pick_unit();
    if (!unit.movable || unit.arena != onto.arena) return;
    unit.offset = onto.offset + onto.lower - unit.lower + static_cast<std::int64_t>(8 * below(3));
    grow(unit);
  }

  void move_in_place(TensorId out, TensorId in) {
    if (bound_.contains(class_of_[out.index()]) || bound_.contains(class_of_[in.index()])) return;
    const At to = find(out.index());
    const At from = find(in.index());
    Unit& unit = units_.at(to.root);
    const Unit& onto = units_.at(from.root);
    if (to.root == from.root || !unit.movable || unit.arena != onto.arena) return;
    unit.offset = onto.offset + from.offset - to.offset;
    if (unit.offset + unit.lower < 0) unit.offset = -unit.lower;
    grow(unit);
  }

  void grow(const Unit& unit) {
    Bytes& top = plan_.arenas[unit.arena].regions.front();
    top = std::max(top, Bytes(unit.offset + unit.upper));
  }

  // ----- the plan

  [[nodiscard]] BodyPath path_of(OpId op) const { return graph_.path(graph_.scope_of(op)); }
  [[nodiscard]] OpId local(OpId op) const { return OpId(op.index() - graph_.scope(graph_.scope_of(op)).first_op.index()); }

  void write() {
    for (std::size_t t = 0; t < tensors_; ++t) {
      if (bound_.contains(class_of_[t])) continue;
      const At at = find(t);
      const Unit& unit = units_.at(at.root);
      plan_.placements.push_back({local(TensorId(t)), ArenaId(unit.arena), 0, Bytes(unit.offset + at.offset),
                                  graph_.tensors()[t].size, graph_.path(graph_.scope_of(TensorId(t)))});
    }
    for (const Scratch& scratch : scratch_) {
      plan_.workspaces.push_back({local(scratch.op), scratch.index, ArenaId(scratch.unit.arena), 0, Bytes(scratch.unit.offset),
                                  Bytes(scratch.unit.upper), path_of(scratch.op)});
    }
    for (Waiting& waiting : waiting_) {
      const At at = find(waiting.node);
      const Unit& unit = units_.at(at.root);
      waiting.copy.arena = ArenaId(unit.arena);
      waiting.copy.offset = Bytes(unit.offset + at.offset);
      plan_.copies.push_back(waiting.copy);
    }
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) write_clears(OpId(k));
    for (Arena& arena : plan_.arenas) {
      arena.size = arena.regions.front();
      arena.proven_optimal = arena.size == Bytes(0);
    }
  }

  [[nodiscard]] bool in_loop(OpId op) const {
    for (ScopeId scope = graph_.scope_of(op); scope != ScopeId(0); scope = graph_.scope(scope).parent) {
      if (graph_.op(graph_.scope(scope).op).control == Control::loop) return true;
    }
    return false;
  }

  void write_clears(OpId id) {
    const Op& op = graph_.op(id);
    const bool separate = in_loop(id) || !op.batch.empty() || chance(60);
    const auto add = [&](std::size_t arena, std::int64_t offset, Bytes size) {
      Clear clear{ArenaId(arena), 0, Bytes(offset), size, op.zero_fill.value, OpId(0), {}};
      if (separate) clear.before = local(id);
      if (separate) clear.body = path_of(id);
      plan_.clears.push_back(clear);
    };
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const At at = find(op.outputs[output].index());
      add(units_.at(at.root).arena, units_.at(at.root).offset + at.offset, graph_.tensor(op.outputs[output]).size);
    }
    for (const Scratch& scratch : scratch_) {
      const auto& filled = op.zero_fill.workspaces;
      if (scratch.op != id || std::find(filled.begin(), filled.end(), scratch.index) == filled.end()) continue;
      add(scratch.unit.arena, scratch.unit.offset, Bytes(scratch.unit.upper));
    }
  }

  const Graph& graph_;
  std::mt19937_64 random_;
  std::size_t moves_;
  std::size_t tensors_;
  std::vector<std::size_t> parent_;  ///< By tensor, then by what copies make.
  std::vector<std::int64_t> offset_;
  std::vector<std::size_t> class_of_;
  std::map<std::size_t, Class> classes_;
  std::map<std::size_t, std::int64_t> sizes_;
  std::set<std::size_t> bound_;   ///< Classes.
  std::set<std::size_t> pinned_;  ///< Nodes that need one address for ever.
  std::map<std::size_t, Unit> units_;
  std::vector<Scratch> scratch_;
  std::vector<Waiting> waiting_;
  Plan plan_{};
};

}  // namespace stowage::oracle
