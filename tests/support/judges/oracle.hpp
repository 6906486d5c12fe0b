#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// For tests: a second judge of plans, straight from the rules and without any cleverness. Classes by relabelling, happens-before
/// by sets, overlaps by looking at every pair. It shares nothing with the verifier, which must agree with it on every plan.
namespace stowage::oracle {

struct Box {
  std::size_t owner;  ///< Class of a tensor, or a number above all tensors for a workspace.
  std::size_t arena;
  std::uint32_t region;
  std::int64_t lower;
  std::int64_t upper;
};

class Oracle {
 public:
  explicit Oracle(const Graph& graph, bool keep_inputs = false) : graph_(graph), tensors_(graph.tensors().size()) {
    find_classes();
    find_order();
    find_needs(keep_inputs);
  }

  /// The tensors that lie at fixed distances share a number.
  [[nodiscard]] std::size_t class_of(std::size_t tensor) const { return class_[tensor]; }

  /// The first rule that the plan breaks; nothing when it is right. Numbers in the plan must be below 2^61.
  [[nodiscard]] std::optional<std::string> judge(const Plan& plan) const {
    if (auto fault = bad_reference(plan)) return fault;
    if (auto fault = bad_arena(plan)) return fault;
    if (auto fault = bad_tensor(plan)) return fault;
    if (auto fault = bad_workspace(plan)) return fault;
    if (auto fault = bad_layout(plan)) return fault;
    if (auto fault = bad_region(plan)) return fault;
    return bad_overlap(plan);
  }

 private:
  struct Need {
    TensorFlags flags;
    std::set<std::int64_t> accesses;
    bool from_start = false;
    bool for_ever = false;
    bool used = false;
  };

  // ----- what the graph says

  void find_classes() {
    for (std::size_t t = 0; t < tensors_; ++t) class_.push_back(graph_.root(TensorId(t)).tensor.index());
    for (const Op& op : graph_.ops()) {
      for (const Alias& alias : op.aliases) {
        const std::size_t from = class_[op.outputs[alias.output].index()];
        const std::size_t to = class_[op.inputs[alias.input]->index()];
        std::replace(class_.begin(), class_.end(), from, to);
      }
    }
    std::size_t next = tensors_;
    for (const Op& op : graph_.ops()) {
      workspace_.push_back(next);
      next += op.workspaces.size();
    }
    needs_.resize(next);
  }

  void add_producers(TensorId tensor, std::size_t reader, std::set<std::size_t>& visited, std::set<std::size_t>& found) const {
    if (!visited.insert(tensor.index()).second) return;
    const Tensor& t = graph_.tensor(tensor);
    if (t.view_of) add_producers(t.view_of->tensor, reader, visited, found);
    for (std::size_t k = reader; k-- > 0;) {
      const Op& op = graph_.ops()[k];
      const auto at = std::find(op.outputs.begin(), op.outputs.end(), tensor);
      if (at == op.outputs.end()) continue;
      if (!op.no_task) found.insert(k);
      for (const Alias& alias : op.aliases) {
        if (op.no_task && op.outputs[alias.output] == tensor) add_producers(*op.inputs[alias.input], reader, visited, found);
      }
      return;
    }
  }

  void find_order() {
    before_.resize(graph_.ops().size());
    if (graph_.stream_count() == 1) return;
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      if (op.no_task) continue;
      std::set<std::size_t> direct;
      for (std::size_t j = 0; j < k; ++j) {
        if (!graph_.ops()[j].no_task && graph_.ops()[j].stream == op.stream) direct.insert(j);
      }
      for (const OpId after : op.after) {
        if (!graph_.op(after).no_task) direct.insert(after.index());
      }
      std::set<std::size_t> visited;
      for (const auto& input : op.inputs) {
        if (input) add_producers(*input, k, visited, direct);
      }
      before_[k] = direct;
      for (const std::size_t j : direct) before_[k].insert(before_[j].begin(), before_[j].end());
    }
  }

  void find_needs(bool keep_inputs) {
    for (std::size_t t = 0; t < tensors_; ++t) needs_[class_[t]].flags |= graph_.tensors()[t].flags;
    std::optional<std::int64_t> first_task;
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      const auto step = static_cast<std::int64_t>(k);
      if (!op.no_task && !first_task) first_task = step;
      for (const auto& input : op.inputs) {
        if (input && !op.no_task) needs_[class_[input->index()]].accesses.insert(step);
      }
      for (const TensorId output : op.outputs) {
        Need& need = needs_[class_[output.index()]];
        if (!op.no_task) need.accesses.insert(step);
        if (op.no_reuse) need.flags |= TensorFlag::no_reuse;
      }
      for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
        Need& need = needs_[workspace_[k] + w];
        if (!op.no_task && op.workspaces[w].size > Bytes(0)) need.accesses.insert(step);
        if (op.no_reuse || op.workspaces[w].no_reuse) need.flags |= TensorFlag::no_reuse;
      }
    }
    const std::int64_t unread = graph_.stream_count() == 1 ? 0 : first_task.value_or(0);
    for (Need& need : needs_) settle(need, keep_inputs, unread);
  }

  static void settle(Need& need, bool keep_inputs, std::int64_t unread) {
    const bool input = need.flags.has(TensorFlag::input);
    const bool output = need.flags.has(TensorFlag::output);
    const bool own = need.flags.any_of({TensorFlag::constant, TensorFlag::variable});
    need.used = !need.flags.has(TensorFlag::external) && (own || input || output || !need.accesses.empty());
    const bool whole = own || need.flags.has(TensorFlag::no_reuse);
    need.from_start = whole || input || need.accesses.empty();
    need.for_ever = whole || output || (input && keep_inputs);
    if (input && need.accesses.empty()) need.accesses.insert(unread);
  }

  // ----- rules for one placement at a time

  static std::string at(const char* what, std::size_t index) { return what + (" " + std::to_string(index)); }

  [[nodiscard]] std::optional<std::string> bad_reference(const Plan& plan) const {
    if (plan.graph != graph_.name()) return "graph name";
    for (const Note& note : plan.notes) {
      if (note.tensor.index() >= tensors_) return "note";
    }
    std::set<std::size_t> placed;
    for (const Placement& p : plan.placements) {
      if (p.tensor.index() >= tensors_ || !placed.insert(p.tensor.index()).second) return at("tensor id", p.tensor.index());
      if (p.arena.index() >= plan.arenas.size() || p.region >= plan.arenas[p.arena.index()].regions.size())
        return "arena or region";
    }
    std::set<std::pair<std::size_t, std::uint32_t>> scratch;
    for (const WorkspacePlacement& p : plan.workspaces) {
      if (p.op.index() >= graph_.ops().size() || p.index >= graph_.op(p.op).workspaces.size()) return at("op id", p.op.index());
      if (!scratch.insert({p.op.index(), p.index}).second) return at("workspace twice, op", p.op.index());
      if (p.arena.index() >= plan.arenas.size() || p.region >= plan.arenas[p.arena.index()].regions.size())
        return "arena or region";
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> bad_arena(const Plan& plan) const {
    for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
      const Arena& arena = plan.arenas[a];
      if (arena.memory.index() >= graph_.memories().size()) return at("memory of arena", a);
      Bytes sum;
      for (const Bytes region : arena.regions) {
        if (region < Bytes(0)) return at("negative region of arena", a);
        sum += region;
      }
      if (sum != arena.size) return at("size of arena", a);
      if (arena.lower_bound > arena.size || arena.proven_optimal != (arena.lower_bound == arena.size))
        return at("claim of arena", a);
    }
    return std::nullopt;
  }

  template <class P>
  [[nodiscard]] static bool misplaced(const Plan& plan, const P& p, Bytes size, Bytes alignment, MemoryId memory,
                                      ArenaKind kind) {
    const Arena& arena = plan.arenas[p.arena.index()];
    return p.size != size || p.offset < Bytes(0) || p.offset + size > arena.regions[p.region] ||
           p.offset.value() % alignment.value() != 0 || arena.memory != memory || arena.kind != kind;
  }

  [[nodiscard]] std::optional<std::string> bad_tensor(const Plan& plan) const {
    for (std::size_t t = 0; t < tensors_; ++t) {
      const Need& need = needs_[class_[t]];
      const Placement* const p = find(plan, t);
      if (need.used && !p) return at("missing tensor", t);
      if (need.flags.has(TensorFlag::external) && p) return at("placed external tensor", t);
      if (!p) continue;
      const bool own = need.flags.any_of({TensorFlag::constant, TensorFlag::variable});
      const Tensor& tensor = graph_.tensors()[t];
      if (misplaced(plan, *p, tensor.size, graph_.alignment(TensorId(t)), tensor.memory,
                    own ? ArenaKind::persistent : ArenaKind::shared)) {
        return at("misplaced tensor", t);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> bad_workspace(const Plan& plan) const {
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      for (std::size_t w = 0; w < graph_.ops()[k].workspaces.size(); ++w) {
        const Workspace& workspace = graph_.ops()[k].workspaces[w];
        const WorkspacePlacement* const p = find(plan, k, w);
        if (!p && needs_[workspace_[k] + w].used) return at("missing workspace of op", k);
        if (!p) continue;
        if (misplaced(plan, *p, workspace.size, graph_.alignment(workspace), workspace.memory, ArenaKind::shared)) {
          return at("misplaced workspace of op", k);
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] static bool apart(const Placement* inner, const Placement* outer, Bytes offset) {
    if (!inner || !outer) return false;
    return inner->arena != outer->arena || inner->region != outer->region || inner->offset != outer->offset + offset;
  }

  [[nodiscard]] std::optional<std::string> bad_layout(const Plan& plan) const {
    for (std::size_t t = 0; t < tensors_; ++t) {
      const Graph::Root root = graph_.root(TensorId(t));
      if (apart(find(plan, t), find(plan, root.tensor.index()), root.offset)) return at("view", t);
    }
    for (const Op& op : graph_.ops()) {
      for (const Alias& alias : op.aliases) {
        const std::size_t output = op.outputs[alias.output].index();
        if (apart(find(plan, output), find(plan, op.inputs[alias.input]->index()), alias.offset)) return at("alias", output);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Bytes class_alignment(std::size_t id) const {
    Bytes alignment(1);
    for (std::size_t t = 0; t < tensors_; ++t) {
      if (class_[t] == id) alignment = std::max(alignment, graph_.alignment(TensorId(t)));
    }
    return alignment;
  }

  /// Layout holds, so that a class is one run of bytes.
  [[nodiscard]] std::optional<std::string> bad_region(const Plan& plan) const {
    for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
      const std::optional<Bytes> limit = graph_.memory(plan.arenas[a].memory).max_size;
      for (std::uint32_t r = 0; limit && r < plan.arenas[a].regions.size(); ++r) {
        if (plan.arenas[a].regions[r] <= *limit) continue;
        bool needed = false;
        for (const WorkspacePlacement& p : plan.workspaces) {
          const Bytes alignment = graph_.alignment(graph_.op(p.op).workspaces[p.index]);
          needed |= p.arena.index() == a && p.region == r && align_up(p.size, alignment) > *limit;
        }
        for (const Placement& p : plan.placements) {
          for (const Placement& q : plan.placements) {
            if (p.arena.index() != a || p.region != r || class_[p.tensor.index()] != class_[q.tensor.index()]) continue;
            if (q.offset + q.size < p.offset) continue;
            needed |= align_up(q.offset + q.size - p.offset, class_alignment(class_[p.tensor.index()])) > *limit;
          }
        }
        if (!needed) return at("large region of arena", a);
      }
    }
    return std::nullopt;
  }

  // ----- overlaps, pair by pair

  [[nodiscard]] bool happens_before(std::int64_t a, std::int64_t b) const {
    if (graph_.stream_count() == 1) return a < b;
    return before_[static_cast<std::size_t>(b)].count(static_cast<std::size_t>(a)) > 0;
  }

  /// All accesses of one before all of the other, but for op `shared`, which may touch both.
  [[nodiscard]] bool over_before(const Need& a, const Need& b, std::int64_t shared = -1) const {
    if (a.for_ever || b.from_start) return false;
    for (const std::int64_t x : a.accesses) {
      for (const std::int64_t y : b.accesses) {
        if (!(x == shared && y == shared) && !happens_before(x, y)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool takes_over(const Plan& plan, const Box& q, const Box& r) const {
    const Need& from = needs_[q.owner];
    const Need& to = needs_[r.owner];
    if (r.owner >= tensors_ || to.accesses.empty() || from.accesses.empty()) return false;
    const std::int64_t k = *to.accesses.begin();
    if (*from.accesses.rbegin() != k || !over_before(from, to, k)) return false;
    const Op& op = graph_.ops()[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const bool paired = std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) { return pair.input == i; });
      if (op.inputs[i] && class_[op.inputs[i]->index()] == q.owner && !paired) return false;
    }
    return std::any_of(op.in_place.begin(), op.in_place.end(), [&](InPlacePair pair) {
      return pair_allows(plan, op, op.outputs[pair.output], *op.inputs[pair.input], q, r);
    });
  }

  [[nodiscard]] bool pair_allows(const Plan& plan, const Op& op, TensorId out, TensorId in, const Box& q, const Box& r) const {
    if (class_[out.index()] != r.owner || class_[in.index()] != q.owner || graph_.root(out).offset != Bytes(0)) return false;
    const Placement& to = *find(plan, out.index());
    const Placement& from = *find(plan, in.index());
    if (to.offset != from.offset || to.size > from.size) return false;
    const std::int64_t lower = from.offset.value();
    const std::int64_t upper = lower + from.size.value();
    if (std::max(q.lower, r.lower) < lower || std::min(q.upper, r.upper) > upper) return false;
    for (const auto& input : op.inputs) {
      if (!input || class_[input->index()] != q.owner) continue;
      const Placement& p = *find(plan, input->index());
      const bool meets = p.size > Bytes(0) && p.offset < to.offset + to.size && to.offset < p.offset + p.size;
      if (p.offset != from.offset && meets && to.size > Bytes(0)) return false;
    }
    return std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorId other) {
      if (other == out || (class_[other.index()] != q.owner && class_[other.index()] != r.owner)) return false;
      const Placement& p = *find(plan, other.index());
      return p.size > Bytes(0) && p.offset.value() < upper && p.offset.value() + p.size.value() > lower;
    });
  }

  [[nodiscard]] std::optional<std::string> bad_overlap(const Plan& plan) const {
    std::vector<Box> boxes;
    const auto add = [&](std::size_t owner, const auto& p) {
      if (!needs_[owner].used || p.size == Bytes(0)) return;
      boxes.push_back({owner, p.arena.index(), p.region, p.offset.value(), p.offset.value() + p.size.value()});
    };
    for (const Placement& p : plan.placements) {
      if (!graph_.tensor(p.tensor).view_of) add(class_[p.tensor.index()], p);
    }
    for (const WorkspacePlacement& p : plan.workspaces) add(workspace_[p.op.index()] + p.index, p);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (std::size_t j = i + 1; j < boxes.size(); ++j) {
        const Box& a = boxes[i];
        const Box& b = boxes[j];
        if (a.lower >= b.upper || b.lower >= a.upper || a.arena != b.arena || a.region != b.region || a.owner == b.owner)
          continue;
        if (over_before(needs_[a.owner], needs_[b.owner]) || over_before(needs_[b.owner], needs_[a.owner])) continue;
        if (takes_over(plan, a, b) || takes_over(plan, b, a)) continue;
        return at("overlap of", a.owner) + at(" with", b.owner);
      }
    }
    return std::nullopt;
  }

  /// Plans list tensors in ascending order, so that the entry of a tensor is most often a little before its id; mutated plans may
  /// have it anywhere.
  [[nodiscard]] static const Placement* find(const Plan& plan, std::size_t tensor) {
    const std::size_t count = plan.placements.size();
    for (std::size_t i = std::min(tensor + 1, count); i-- > 0;) {
      if (plan.placements[i].tensor.index() == tensor) return &plan.placements[i];
    }
    for (std::size_t i = tensor + 1; i < count; ++i) {
      if (plan.placements[i].tensor.index() == tensor) return &plan.placements[i];
    }
    return nullptr;
  }
  [[nodiscard]] static const WorkspacePlacement* find(const Plan& plan, std::size_t op, std::size_t index) {
    for (const WorkspacePlacement& p : plan.workspaces) {
      if (p.op.index() == op && p.index == index) return &p;
    }
    return nullptr;
  }

  const Graph& graph_;
  std::size_t tensors_;
  std::vector<std::size_t> class_;      ///< By tensor.
  std::vector<std::size_t> workspace_;  ///< By op: the number of its first workspace.
  std::vector<std::set<std::size_t>> before_;
  std::vector<Need> needs_;  ///< By class and workspace.
};

}  // namespace stowage::oracle
