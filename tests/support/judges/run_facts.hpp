#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::oracle {

/// What holds in every run of a graph with a plan: where things lie, which of them are one value, and which are made of which.
class RunFacts {
 protected:
  using Cell = std::pair<std::size_t, std::uint32_t>;
  struct Byte {
    Cell cell;
    std::int64_t at;
    friend auto operator<=>(const Byte&, const Byte&) = default;
  };
  struct Spot {
    Cell cell;
    std::int64_t offset = 0;
    std::int64_t size = 0;
    [[nodiscard]] bool has(const Byte& byte) const { return byte.cell == cell && byte.at >= offset && byte.at < offset + size; }
    [[nodiscard]] bool same_place(const Spot& other) const { return cell == other.cell && offset == other.offset; }
  };
  struct Part {
    std::size_t source;
    std::size_t derived;
    OpId op;
    Spot spot;
  };
  static constexpr std::size_t kOther = static_cast<std::size_t>(-1);

  RunFacts(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
    read_plan();
    find_classes();
    find_extents();
    find_kin();
    find_parts();
    look_at_ops();
  }

  [[nodiscard]] std::size_t global(const BodyPath& body, TensorId tensor) const {
    return graph_.scope(*graph_.find_scope(body)).first_tensor.index() + tensor.index();
  }

  [[nodiscard]] std::size_t global(const BodyPath& body, OpId op) const {
    return graph_.scope(*graph_.find_scope(body)).first_op.index() + op.index();
  }

  static bool is_carried(const Scope& scope, TensorId inner) {
    return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
  }

  [[nodiscard]] bool at_one_place(TensorId a, TensorId b) {
    return places_.contains(a.index()) && places_.contains(b.index()) && places_[a.index()].same_place(places_[b.index()]);
  }

  [[nodiscard]] std::vector<const Copy*> copies_at(ScopeId scope, std::int64_t before) const {
    std::vector<const Copy*> found;
    for (const Copy& copy : plan_.copies) {
      if (graph_.find_scope(copy.body) == scope && copy.before == before) found.push_back(&copy);
    }
    return found;
  }

  [[nodiscard]] std::vector<const Copy*> copies_at(OpId op) const {
    const ScopeId scope = graph_.scope_of(op);
    return copies_at(scope, static_cast<std::int64_t>(op.index() - graph_.scope(scope).first_op.index()));
  }

  [[nodiscard]] const Copy* copy_at(OpId op, TensorId tensor) const {
    for (const Copy* copy : copies_at(op)) {
      if (global(copy->body, copy->tensor) == tensor.index()) return copy;
    }
    return nullptr;
  }

  [[nodiscard]] bool is_persistent(std::size_t klass) const {
    const auto found = flags_.find(klass);
    return found != flags_.end() && found->second.any_of({TensorFlag::constant, TensorFlag::variable});
  }

  template <class F>
  static void for_each_byte(const std::vector<Spot>& spots, F&& f) {
    for (const Spot& spot : spots) {
      for (std::int64_t i = 0; i < spot.size; ++i) f(Byte{spot.cell, spot.offset + i});
    }
  }

  [[nodiscard]] bool may_overwrite(OpId id, std::size_t from, std::size_t to, const Byte& byte) {
    const Op& op = graph_.op(id);
    if (from >= graph_.tensors().size() || to >= graph_.tensors().size()) return false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const bool paired = std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) { return pair.input == i; });
      if (op.inputs[i] && class_[op.inputs[i]->index()] == from && !paired) return false;
    }
    return std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) {
      const TensorId out = op.outputs[pair.output];
      const TensorId in = *op.inputs[pair.input];
      if (class_[out.index()] != to || class_[in.index()] != from || graph_.root(out).offset != Bytes(0)) return false;
      if (!is_placed(out) || !is_placed(in) || !at_one_place(out, in)) return false;
      const Spot& target = places_[out.index()];
      const Spot& source = places_[in.index()];
      if (target.size > source.size || !source.has(byte)) return false;
      for (const auto& input : op.inputs) {
        if (!input || class_[input->index()] != from) continue;
        const Spot& read = places_[input->index()];
        if (read.offset != source.offset && meet(read, target)) return false;
      }
      return std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorId other) {
        const std::size_t klass = class_[other.index()];
        return other != out && (klass == from || klass == to) && meet(places_[other.index()], source);
      });
    });
  }

  [[nodiscard]] bool is_placed(TensorId tensor) const {
    return std::none_of(plan_.bindings.begin(), plan_.bindings.end(),
                        [&](const Binding& binding) { return class_[binding.tensor.index()] == class_[tensor.index()]; });
  }

  static bool meet(const Spot& a, const Spot& b) {
    return a.cell == b.cell && a.size > 0 && b.size > 0 && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
  }

  [[nodiscard]] bool is_filled_kin(std::size_t klass) const {
    return std::any_of(filled_.begin(), filled_.end(), [&](std::size_t filled) { return kin_[filled] == kin_[klass]; });
  }

  std::optional<TensorId> carried_target(OpId op, TensorId outer, const Spot& to) {
    const Scope& scope = graph_.scope(graph_.bodies(op).front());
    for (const BodyInput& pair : scope.inputs) {
      if (pair.outer == outer && is_carried(scope, pair.inner) && places_[pair.inner.index()].same_place(to)) return pair.inner;
    }
    return std::nullopt;
  }

  const Graph& graph_;
  const Plan& plan_;
  std::map<std::size_t, Spot> places_;  ///< By tensor, then by workspace.
  std::vector<std::size_t> first_workspace_;
  std::vector<std::size_t> class_;
  std::vector<std::size_t> kin_;
  std::map<std::size_t, TensorFlags> flags_;
  std::map<std::size_t, std::vector<Spot>> extent_;
  std::map<std::size_t, std::size_t> home_;
  std::vector<Part> parts_;
  std::set<std::size_t> filled_;
  std::set<std::size_t> session_;
  std::set<std::size_t> touched_;

 private:
  void read_plan() {
    for (const Placement& p : plan_.placements)
      places_[global(p.body, p.tensor)] = {{p.arena.index(), p.region}, p.offset.value(), p.size.value()};
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      for (std::size_t a = 0; a < plan_.arenas.size(); ++a) {
        if (plan_.arenas[a].tensor == TensorId(t)) places_[t] = {{a, 0}, 0, graph_.tensors()[t].size.value()};
      }
    }
    std::size_t next = graph_.tensors().size();
    for (const Op& op : graph_.ops()) {
      first_workspace_.push_back(next);
      next += op.workspaces.size();
    }
    for (const WorkspacePlacement& p : plan_.workspaces)
      places_[first_workspace_[global(p.body, p.op)] + p.index] = {{p.arena.index(), p.region}, p.offset.value(), p.size.value()};
    class_.resize(next);
    std::iota(class_.begin(), class_.end(), std::size_t{0});
  }

  void unite(std::vector<std::size_t>& numbers, std::size_t a, std::size_t b) {
    const std::size_t from = numbers[a];
    const std::size_t to = numbers[b];
    std::replace(numbers.begin(), numbers.end(), from, to);
  }

  void find_classes() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) unite(class_, t, graph_.root(TensorId(t)).tensor.index());
    for (const Op& op : graph_.ops()) {
      for (const Alias& alias : op.aliases) unite(class_, op.outputs[alias.output].index(), op.inputs[alias.input]->index());
    }
    for (std::size_t s = 1; s < graph_.scopes().size(); ++s) {
      const Scope& scope = graph_.scopes()[s];
      for (const BodyInput& pair : scope.inputs) {
        if (!is_carried(scope, pair.inner)) unite(class_, pair.inner.index(), pair.outer.index());
      }
      if (graph_.op(scope.op).control != Control::loop) continue;
      for (const BodyOutput& pair : scope.outputs) {
        TensorId incoming = pair.inner;
        for (const Carried& each : scope.carried) {
          if (each.out == pair.inner) {
            incoming = each.in;
            break;
          }
        }
        unite(class_, incoming.index(), pair.outer.index());
      }
    }
  }

  /// Where each class lies, and the scope that it lives in.
  void find_extents() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      flags_[class_[t]] |= graph_.tensors()[t].flags;
      if (!graph_.tensors()[t].view_of && places_.contains(t)) extent_[class_[t]].push_back(places_[t]);
      const std::size_t scope = graph_.scope_of(TensorId(t)).index();
      const auto [home, is_new] = home_.try_emplace(class_[t], scope);
      if (!is_new) home->second = std::min(home->second, scope);
    }
    for (const Scope& scope : graph_.scopes()) {
      for (const Carried& pair : scope.carried)
        home_[class_[pair.in.index()]] = std::min(home_[class_[pair.in.index()]], scope.parent.index());
    }
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      for (std::size_t w = 0; w < graph_.ops()[k].workspaces.size(); ++w) {
        const std::size_t id = first_workspace_[k] + w;
        if (places_.contains(id)) extent_[id].push_back(places_[id]);
        home_[id] = graph_.scope_of(OpId(k)).index();
      }
    }
  }

  /// Classes that pairs of a body put at one place.
  void find_kin() {
    kin_ = class_;
    for (std::size_t s = 1; s < graph_.scopes().size(); ++s) {
      const Scope& scope = graph_.scopes()[s];
      for (const BodyInput& pair : scope.inputs) meet(pair.inner, pair.outer);
      for (const BodyOutput& pair : scope.outputs) meet(pair.inner, pair.outer);
      for (const Carried& pair : scope.carried) meet(pair.out, pair.in);
    }
  }

  void meet(TensorId a, TensorId b) {
    if (at_one_place(a, b)) unite(kin_, a.index(), b.index());
  }

  void find_parts() {
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      if (op.contiguous_inputs == Contiguity::packed && op.inputs.size() > 1) {
        std::int64_t offset = 0;
        for (const auto& input : op.inputs) {
          add_part(OpId(k), *input, op.outputs[0], *input, op.outputs[0], offset);
          offset += graph_.tensor(*input).size.value();
        }
      }
      if (op.contiguous_outputs == Contiguity::packed && op.outputs.size() > 1) {
        std::int64_t offset = 0;
        for (const TensorId output : op.outputs) {
          add_part(OpId(k), *op.inputs[0], output, output, *op.inputs[0], offset);
          offset += graph_.tensor(output).size.value();
        }
      }
    }
  }

  void add_part(OpId op, TensorId source, TensorId derived, TensorId part, TensorId whole, std::int64_t offset) {
    if (!places_.contains(part.index()) || !places_.contains(whole.index())) return;
    const Spot& at = places_[part.index()];
    const Spot& base = places_[whole.index()];
    if (at.cell != base.cell || at.offset != base.offset + offset || copy_at(op, part)) return;
    if (class_[source.index()] == class_[derived.index()]) return;
    parts_.push_back({class_[source.index()], class_[derived.index()], op, at});
    unite(kin_, source.index(), derived.index());
  }

  void look_at_ops() {
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      for (const std::uint32_t output : op.zero_fill.outputs) filled_.insert(class_[op.outputs[output].index()]);
      for (const std::uint32_t w : op.zero_fill.workspaces) filled_.insert(first_workspace_[k] + w);
      for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
        if (!op.no_task && op.workspaces[w].scope == WorkspaceScope::session) session_.insert(first_workspace_[k] + w);
        if (op.no_reuse || op.workspaces[w].no_reuse) flags_[first_workspace_[k] + w] |= TensorFlag::no_reuse;
      }
      for (const TensorId output : op.outputs) {
        if (op.no_reuse) flags_[class_[output.index()]] |= TensorFlag::no_reuse;
        if (!op.no_task) touched_.insert(class_[output.index()]);
      }
      for (const auto& input : op.inputs) {
        if (input && !op.no_task) touched_.insert(class_[input->index()]);
      }
    }
  }
};

}  // namespace stowage::oracle
