#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// For tests: a judge of plans that runs the program, byte by byte, in every way that it can go: each batch, each body of each
/// branch, no, one and two trips of each loop. Every value writes marks of its own, and must find them again. What streams leave
/// open is decided by sets of predecessors. It shares nothing with the verifier, and has no states to join: it is one path at a
/// time.
namespace stowage::oracle {

class RunOracle {
 public:
  RunOracle(const Graph& graph, const Plan& plan, bool keep_inputs = false)
      : graph_(graph), plan_(plan), keep_inputs_(keep_inputs) {
    read_plan();
    find_classes();
    find_parts();
    look_at_ops();
  }

  /// The first fault of any run, or nothing. Gives up, with `gave_up`, when there are too many ways to go.
  std::optional<std::string> judge(std::size_t max_runs = 3000) {
    std::vector<std::string> batches(graph_.batches().begin(), graph_.batches().end());
    if (batches.empty()) batches.emplace_back();
    std::size_t runs = 0;
    for (const std::string& batch : batches) {
      choices_.clear();
      do {
        if (++runs > max_runs) {
          gave_up_ = true;
          return std::nullopt;
        }
        run(batch);
        if (fault_) return fault_;
      } while (next_way());
    }
    return std::nullopt;
  }
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
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
  struct Choice {
    std::size_t taken;
    std::size_t count;
  };
  /// Who writes marks: a value between two beginnings, a copy, a clear.
  struct Writer {
    std::size_t klass;  ///< kOther for copies and clears.
    std::map<Byte, std::size_t> marks = {};
    std::vector<std::size_t> accesses = {};                   ///< Events.
    std::optional<std::size_t> waits_for = {};                ///< An unread input: it is needed until that op.
    std::set<std::pair<std::size_t, std::size_t>> took = {};  ///< From which writer, at which event.
  };
  struct Mark {
    std::size_t writer;
    std::optional<std::uint8_t> fill = {};
    std::set<std::size_t> shared = {};  ///< Writers that are made of it.
  };
  /// The ops of one scope, each time that it runs.
  struct Frame {
    std::set<std::size_t> base;  ///< What comes before all of it.
    std::map<std::size_t, std::size_t> last_on;
    std::map<std::size_t, OpId> producer;
    std::map<std::size_t, std::size_t> event_of;  ///< By op: its last event.
    std::vector<std::size_t> events;
  };

  static constexpr std::size_t kOther = static_cast<std::size_t>(-1);

  // ----- the plan and the graph

  [[nodiscard]] std::size_t global(const BodyPath& body, TensorId tensor) const {
    return graph_.scope(*graph_.find_scope(body)).first_tensor.index() + tensor.index();
  }
  [[nodiscard]] std::size_t global(const BodyPath& body, OpId op) const {
    return graph_.scope(*graph_.find_scope(body)).first_op.index() + op.index();
  }

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

  static bool is_carried(const Scope& scope, TensorId inner) {
    return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
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
    kin_ = class_;
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
  [[nodiscard]] bool at_one_place(TensorId a, TensorId b) {
    return places_.contains(a.index()) && places_.contains(b.index()) && places_[a.index()].same_place(places_[b.index()]);
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

  [[nodiscard]] bool is_persistent(std::size_t klass) const {
    const auto found = flags_.find(klass);
    return found != flags_.end() && found->second.any_of({TensorFlag::constant, TensorFlag::variable});
  }

  // ----- ways to go

  std::size_t choose(std::size_t count) {
    if (depth_ == choices_.size()) choices_.push_back({0, count});
    return choices_[depth_++].taken;
  }
  bool next_way() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

  // ----- one run

  void fail(const std::string& what) {
    if (!fault_) fault_ = what;
  }

  [[nodiscard]] bool active(const Op& op) const { return op.batch.empty() || op.batch == batch_; }

  void run(const std::string& batch) {
    batch_ = batch;
    depth_ = 0;
    memory_.clear();
    marks_.clear();
    writers_.clear();
    current_.clear();
    before_.clear();
    in_turn_.clear();
    reserved_.clear();
    find_absent();
    find_touched();
    start();
    Frame root;
    const std::size_t first = add_turns(root, {});
    root.base = {first};
    for (const Clear& clear : plan_.clears) {
      if (global(clear.body, clear.before) == 0) fill(clear, first);
    }
    run_scope(ScopeId(0), root);
    for (const auto& [klass, writer] : current_) {
      const auto flags = flags_.find(klass);
      if (flags == flags_.end()) continue;
      const bool kept = flags->second.has(TensorFlag::output) || (flags->second.has(TensorFlag::input) && keep_inputs_);
      if (kept && !intact(writer)) fail("lost at the end: class " + std::to_string(klass));
    }
    check_order_of_takers();
  }

  void find_absent() {
    absent_.clear();
    if (graph_.batches().empty()) return;
    std::set<std::size_t> written;
    for (const Op& op : graph_.ops()) {
      for (const TensorId output : op.outputs) {
        const std::size_t root = graph_.root(output).tensor.index();
        if (active(op)) written.insert(root);
        const TensorFlags flags = flags_[class_[root]];
        if (!flags.any_of(kOwnAddress | TensorFlag::input)) absent_.insert(root);
      }
    }
    for (const std::size_t root : written) absent_.erase(root);
    for (const Scope& scope : graph_.scopes()) {
      for (const BodyInput& pair : scope.inputs) {
        if (is_absent(pair.outer)) absent_.insert(pair.inner.index());
      }
    }
  }
  [[nodiscard]] bool is_absent(TensorId tensor) const { return absent_.contains(graph_.root(tensor).tensor.index()); }

  void find_touched() {
    touched_now_.clear();
    std::vector<bool> entered(graph_.scopes().size(), true);
    for (std::size_t s = 0; s < graph_.scopes().size(); ++s) {
      const Scope& scope = graph_.scopes()[s];
      if (s > 0) entered[s] = entered[scope.parent.index()] && active(graph_.op(scope.op));
      for (std::size_t i = 0; entered[s] && i < scope.op_count; ++i) {
        const std::size_t k = scope.first_op.index() + i;
        const Op& op = graph_.ops()[k];
        if (!active(op) || op.no_task) continue;
        for (const auto& input : op.inputs) {
          if (input && !is_absent(*input)) touched_now_.insert(class_[input->index()]);
        }
        for (const TensorId output : op.outputs) touched_now_.insert(class_[output.index()]);
        for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched_now_.insert(first_workspace_[k] + w);
      }
    }
  }

  void start() {
    for (const auto& [klass, spots] : extent_) {
      const TensorFlags flags = flags_[klass];
      const bool caller = flags.any_of({TensorFlag::input, TensorFlag::output});
      const bool alone = flags.has(TensorFlag::no_reuse) && (caller || touched_now_.contains(klass));
      if (is_persistent(klass) || session_.contains(klass) || alone) {
        for_each_byte(spots, [&](const Byte& byte) {
          const auto [entry, is_new] = reserved_.emplace(byte, klass);
          if (!is_new && kin_[entry->second] != kin_[klass]) fail("two that share with nobody");
        });
      }
    }
    for (const auto& [klass, spots] : extent_) {
      const TensorFlags flags = flags_[klass];
      const bool idle_output = flags.has(TensorFlag::output) && !touched_.contains(klass);
      if (is_persistent(klass) || !(flags.has(TensorFlag::input) || idle_output)) continue;
      const std::size_t writer = add_writer(klass);
      for_each_byte(spots, [&](const Byte& byte) {
        check_reserved(byte, klass);
        const auto there = memory_.find(byte);
        if (there != memory_.end() && is_made_of(klass, marks_[there->second].writer, byte)) {
          share(there->second, writer, byte);
        } else {
          take(byte, writer, std::nullopt);
        }
      });
      if (!flags.has(TensorFlag::input) || touched_now_.contains(klass)) continue;
      std::size_t op = 0;
      while (graph_.stream_count() > 1 && op + 1 < graph_.scopes().front().op_count &&
             (graph_.ops()[op].no_task || !active(graph_.ops()[op]))) {
        ++op;
      }
      writers_[writer].waits_for = op;
    }
  }

  template <class F>
  static void for_each_byte(const std::vector<Spot>& spots, F&& f) {
    for (const Spot& spot : spots) {
      for (std::int64_t i = 0; i < spot.size; ++i) f(Byte{spot.cell, spot.offset + i});
    }
  }

  std::size_t add_writer(std::size_t klass) {
    writers_.push_back({.klass = klass});
    if (klass != kOther) current_[klass] = writers_.size() - 1;
    return writers_.size() - 1;
  }

  void put(const Byte& byte, std::size_t writer, std::optional<std::uint8_t> fill = {}) {
    marks_.push_back({writer, fill, {writer}});
    memory_[byte] = marks_.size() - 1;
    writers_[writer].marks[byte] = marks_.size() - 1;
  }

  // ----- events and their order

  std::size_t add_event(Frame& frame, const std::set<std::size_t>& after) {
    std::set<std::size_t> before = frame.base;
    before.insert(after.begin(), after.end());
    std::set<std::size_t> all = before;
    for (const std::size_t event : before) all.insert(before_[event].begin(), before_[event].end());
    before_.push_back(std::move(all));
    frame.events.push_back(before_.size() - 1);
    return before_.size() - 1;
  }
  [[nodiscard]] bool happens_before(std::size_t a, std::size_t b) const { return before_[b].contains(a); }
  /// The same for what happens within one event, where copies and clears follow each other.
  [[nodiscard]] bool is_over(std::size_t a, std::size_t b) const {
    return happens_before(a, b) || (a == b && in_turn_.contains(b));
  }
  std::size_t add_turns(Frame& frame, const std::set<std::size_t>& after) {
    const std::size_t event = add_event(frame, after);
    in_turn_.insert(event);
    return event;
  }

  void add_sources(const Frame& frame, TensorId tensor, std::set<std::size_t>& visited, std::set<std::size_t>& found) const {
    if (!visited.insert(tensor.index()).second) return;
    if (const auto& view = graph_.tensor(tensor).view_of) add_sources(frame, view->tensor, visited, found);
    const auto producer = frame.producer.find(tensor.index());
    if (producer == frame.producer.end()) return;
    const auto event = frame.event_of.find(producer->second.index());
    if (event != frame.event_of.end()) {
      found.insert(event->second);
      return;
    }
    const Op& op = graph_.op(producer->second);
    for (const Alias& alias : op.aliases) {
      if (op.outputs[alias.output] == tensor) add_sources(frame, *op.inputs[alias.input], visited, found);
    }
    if (op.contiguous_inputs != Contiguity::packed && op.contiguous_outputs != Contiguity::packed) return;
    for (const auto& input : op.inputs) {
      if (input) add_sources(frame, *input, visited, found);
    }
  }

  std::set<std::size_t> predecessors(const Frame& frame, OpId id) const {
    const Op& op = graph_.op(id);
    std::set<std::size_t> found;
    const auto last = frame.last_on.find(op.stream.index());
    if (last != frame.last_on.end()) found.insert(last->second);
    for (const OpId after : op.after) {
      if (frame.event_of.contains(after.index())) found.insert(frame.event_of.at(after.index()));
    }
    for (const Edge& edge : plan_.edges) {
      if (edge.to == id && frame.event_of.contains(edge.from.index())) found.insert(frame.event_of.at(edge.from.index()));
    }
    std::set<std::size_t> visited;
    for (const auto& input : op.inputs) {
      if (input) add_sources(frame, *input, visited, found);
    }
    if (graph_.stream_count() == 1 && !frame.events.empty()) found.insert(frame.events.back());
    return found;
  }

  // ----- ops

  void run_scope(ScopeId id, Frame& frame) {
    const Scope& scope = graph_.scope(id);
    for (std::size_t i = 0; i < scope.op_count && !fault_; ++i) run_op(OpId(scope.first_op.index() + i), frame);
  }

  void run_op(OpId id, Frame& frame) {
    const Op& op = graph_.op(id);
    if (!active(op)) {
      release(id, std::nullopt);
      return;
    }
    const std::vector<const Copy*> copies = copies_at(id);
    if (op.no_task && copies.empty()) {
      release(id, std::nullopt);
      for (const TensorId output : op.outputs) frame.producer[output.index()] = id;
      return;
    }
    const std::size_t first = add_turns(frame, predecessors(frame, id));
    for (const Clear& clear : plan_.clears) {
      if (global(clear.body, clear.before) == id.index() && id.index() != 0) fill(clear, first);
    }
    for (const Copy* copy : copies) run_copy(*copy, id, first);
    std::size_t last = first;
    if (op.no_task) release(id, std::nullopt);
    if (!op.no_task) {
      const std::size_t now = add_event(frame, {first});
      release(id, now);
      last = op.control == Control::none ? run_plain(id, now) : run_bodies(id, frame, now);
    }
    frame.last_on[op.stream.index()] = last;
    frame.event_of[id.index()] = last;
    for (const TensorId output : op.outputs) frame.producer[output.index()] = id;
  }

  /// Inputs that nobody reads are over with this op.
  void release(OpId id, std::optional<std::size_t> event) {
    for (Writer& writer : writers_) {
      if (writer.waits_for != id.index()) continue;
      writer.waits_for.reset();
      if (event) writer.accesses.push_back(*event);
    }
  }

  std::size_t run_plain(OpId id, std::size_t now) {
    const Op& op = graph_.op(id);
    std::vector<std::size_t> touched;
    for (const auto& input : op.inputs) {
      if (!input || is_absent(*input)) continue;
      const Copy* const copy = op.contiguous_inputs != Contiguity::none && op.inputs.size() > 1 ? copy_at(id, *input) : nullptr;
      if (!copy) {
        touched.push_back(class_[input->index()]);
      } else if (op.contiguous_inputs == Contiguity::padded) {
        access_copy(*copy, now);
      }
    }
    for (const std::uint32_t output : op.zero_fill.outputs) check_filled(places_[op.outputs[output].index()], op.zero_fill.value);
    for (const std::uint32_t w : op.zero_fill.workspaces)
      check_filled(places_[first_workspace_[id.index()] + w], op.zero_fill.value);
    for (const TensorId output : op.outputs) touched.push_back(class_[output.index()]);
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched.push_back(first_workspace_[id.index()] + w);
    touch(touched, now, id);
    return now;
  }

  void access_copy(const Copy& copy, std::size_t now) {
    const std::size_t writer = copy_writer_[&copy];
    if (!intact(writer)) fail("copy lost");
    writers_[writer].accesses.push_back(now);
  }

  void check_filled(const Spot& spot, std::uint8_t value) {
    for_each_byte({spot}, [&](const Byte& byte) {
      const auto mark = memory_.find(byte);
      if (mark == memory_.end() || marks_[mark->second].fill != value) fail("not filled");
    });
  }

  /// Its own mark, or one of a part that was written since.
  [[nodiscard]] bool is_there(std::size_t writer, const Byte& byte, std::size_t mark) const {
    const auto found = memory_.find(byte);
    if (found == memory_.end()) return false;
    const std::size_t by = marks_[found->second].writer;
    if (found->second == mark) return true;
    return by != writer && writers_[writer].klass != kOther && is_made_of(writers_[writer].klass, by, byte);
  }
  [[nodiscard]] bool intact(std::size_t writer) const {
    return std::all_of(writers_[writer].marks.begin(), writers_[writer].marks.end(),
                       [&](const auto& mark) { return is_there(writer, mark.first, mark.second); });
  }

  /// All that an op touches: what is there must be whole; what is new takes its bytes, behind all accesses.
  void touch(const std::vector<std::size_t>& classes, std::size_t now, std::optional<OpId> op = {}) {
    std::vector<std::size_t> fresh;
    for (const std::size_t klass : classes) {
      if (!extent_.contains(klass) || is_persistent(klass)) continue;
      const bool is_new = !current_.contains(klass);
      if (is_new) {
        add_writer(klass);
        fresh.push_back(klass);
      } else if (std::find(fresh.begin(), fresh.end(), klass) == fresh.end() && !intact(current_[klass])) {
        fail("lost: class " + std::to_string(klass));
      }
      writers_[current_[klass]].accesses.push_back(now);
    }
    for (const std::size_t klass : fresh) begin(klass, now, op);
  }

  void begin(std::size_t klass, std::size_t now, std::optional<OpId> op) {
    const std::size_t writer = current_[klass];
    for (const Part& part : parts_) {
      if (part.derived != klass || !active(graph_.op(part.op)) || !current_.contains(part.source)) continue;
      for_each_byte({part.spot}, [&](const Byte& byte) {
        const auto& marks = writers_[current_[part.source]].marks;
        if (marks.contains(byte) && !is_there(current_[part.source], byte, marks.at(byte))) fail("part lost");
      });
    }
    for_each_byte(extent_[klass], [&](const Byte& byte) {
      check_reserved(byte, klass);
      const auto there = memory_.find(byte);
      if (there != memory_.end() && is_made_of(klass, marks_[there->second].writer, byte)) {
        share(there->second, writer, byte);
        return;
      }
      take(byte, writer, now, op);
    });
  }

  /// Through parts, at any distance.
  [[nodiscard]] bool is_made_of(std::size_t klass, std::size_t writer, const Byte& byte) const {
    const std::size_t source = writers_[writer].klass;
    if (source == kOther) return false;
    std::set<std::size_t> reached = {klass};
    for (bool grown = true; grown;) {
      grown = false;
      for (const Part& part : parts_) {
        if (part.spot.has(byte) && reached.contains(part.derived)) grown |= reached.insert(part.source).second;
      }
    }
    return reached.contains(source);
  }

  /// The writer puts a mark of its own on the byte.
  void take(const Byte& byte, std::size_t writer, std::optional<std::size_t> now, std::optional<OpId> op = {},
            std::optional<std::uint8_t> fill = {}) {
    std::vector<std::size_t> following;
    const auto there = memory_.find(byte);
    if (there != memory_.end()) {
      const Mark mark = marks_[there->second];
      const bool own =
          mark.writer == writer || (writers_[writer].klass != kOther && writers_[mark.writer].klass == writers_[writer].klass);
      const bool whole = is_made_of_class(mark.writer, writer, byte);
      for (const std::size_t other : mark.shared) {
        if (other == writer || writers_[other].marks[byte] != there->second) continue;
        if (own || whole || is_made_of_class(other, writer, byte)) {
          following.push_back(other);
        } else {
          const bool itself = writers_[mark.writer].klass == writers_[other].klass;
          take_from(byte, other, writer, now, itself ? op : std::nullopt);
        }
      }
    }
    put(byte, writer, fill);
    for (const std::size_t other : following) share(memory_[byte], other, byte);
  }
  void share(std::size_t mark, std::size_t writer, const Byte& byte) {
    writers_[writer].marks[byte] = mark;
    marks_[mark].shared.insert(writer);
  }
  [[nodiscard]] bool is_made_of_class(std::size_t whole, std::size_t part, const Byte& byte) const {
    return writers_[whole].klass != kOther && is_made_of(writers_[whole].klass, part, byte);
  }

  void take_from(const Byte& byte, std::size_t from, std::size_t writer, std::optional<std::size_t> now, std::optional<OpId> op) {
    if (writers_[from].waits_for) fail("an unread input is overwritten");
    if (!now) {
      fail("two from the start");
      return;
    }
    for (const std::size_t access : writers_[from].accesses) {
      const bool in_place = access == *now && op && may_overwrite(*op, writers_[from].klass, writers_[writer].klass, byte);
      if (!is_over(access, *now) && !in_place) fail("overwritten: class " + std::to_string(writers_[from].klass));
    }
    writers_[writer].took.insert({from, *now});
  }

  /// Whoever took another one's bytes is only touched after that.
  void check_order_of_takers() {
    for (const Writer& writer : writers_) {
      for (const auto& [from, event] : writer.took) {
        for (const std::size_t a : writers_[from].accesses) {
          for (const std::size_t b : writer.accesses) {
            if (a == b || b < event || happens_before(a, b) || a > event) continue;
            fail("not ordered: class " + std::to_string(writers_[from].klass));
          }
        }
      }
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

  void check_reserved(const Byte& byte, std::size_t klass) {
    const auto owner = reserved_.find(byte);
    if (owner == reserved_.end() || owner->second == klass) return;
    if (klass == kOther || kin_[owner->second] != kin_[klass]) fail("takes what is shared with nobody");
  }

  [[nodiscard]] bool is_filled_kin(std::size_t klass) const {
    return std::any_of(filled_.begin(), filled_.end(), [&](std::size_t filled) { return kin_[filled] == kin_[klass]; });
  }

  void fill(const Clear& clear, std::size_t event) {
    const std::size_t writer = add_writer(kOther);
    writers_[writer].accesses.push_back(event);
    const Spot spot{{clear.arena.index(), clear.region}, clear.offset.value(), clear.size.value()};
    for_each_byte({spot}, [&](const Byte& byte) {
      const auto owner = reserved_.find(byte);
      if (owner != reserved_.end() && !is_filled_kin(owner->second)) fail("fills what is shared with nobody");
      take(byte, writer, event, {}, clear.value);
    });
  }

  // ----- copies and bodies

  /// `op`: whom it comes before, for copies to what the op reads.
  void run_copy(const Copy& copy, OpId op, std::size_t now) {
    const TensorId tensor(global(copy.body, copy.tensor));
    const Op& of = graph_.op(op);
    const bool split = of.contiguous_outputs == Contiguity::packed &&
                       std::find(of.outputs.begin(), of.outputs.end(), tensor) != of.outputs.end();
    TensorId source = split ? *of.inputs.front() : tensor;
    if (is_absent(source)) return;
    const Spot to{{copy.arena.index(), copy.region}, copy.offset.value(), graph_.tensor(tensor).size.value()};
    if (!split && places_.contains(source.index()) && meet(places_[source.index()], to)) fail("a copy onto itself");
    touch({class_[source.index()]}, now);
    if (split) {
      write(tensor, to, now);
    } else if (of.control == Control::loop) {
      write(*carried_target(op, tensor, to), to, now);
    } else if (of.contiguous_inputs == Contiguity::packed) {
      write(of.outputs.front(), to, now);
    } else {
      const std::size_t writer = add_writer(kOther);
      writers_[writer].accesses.push_back(now);
      copy_writer_[&copy] = writer;
      for_each_byte({to}, [&](const Byte& byte) {
        check_reserved(byte, kOther);
        take(byte, writer, now);
      });
    }
  }

  std::optional<TensorId> carried_target(OpId op, TensorId outer, const Spot& to) {
    const Scope& scope = graph_.scope(graph_.bodies(op).front());
    for (const BodyInput& pair : scope.inputs) {
      if (pair.outer == outer && is_carried(scope, pair.inner) && places_[pair.inner.index()].same_place(to)) return pair.inner;
    }
    return std::nullopt;
  }

  /// New marks for these bytes of the tensor's class.
  void write(TensorId tensor, const Spot& spot, std::size_t now) {
    const std::size_t klass = class_[tensor.index()];
    const bool is_new = !current_.contains(klass);
    const std::size_t writer = is_new ? add_writer(klass) : current_[klass];
    writers_[writer].accesses.push_back(now);
    for_each_byte({spot}, [&](const Byte& byte) {
      check_reserved(byte, klass);
      take(byte, writer, now);
    });
    if (is_new) begin(klass, now, {});
  }

  void hand_over(TensorId from, TensorId to, std::size_t now) {
    const std::size_t source = class_[from.index()];
    if (source == class_[to.index()] || !at_one_place(from, to) || is_absent(from)) return;
    const Spot spot = places_[to.index()];
    if (!current_.contains(source)) touch({source}, now);
    for_each_byte({spot}, [&](const Byte& byte) {
      const auto& marks = writers_[current_[source]].marks;
      if (marks.contains(byte) && !is_there(current_[source], byte, marks.at(byte))) fail("handed over too late");
    });
    writers_[current_[source]].accesses.push_back(now);
    write(to, spot, now);
  }

  std::size_t run_bodies(OpId id, Frame& frame, std::size_t now) {
    const Op& op = graph_.op(id);
    std::vector<std::size_t> touched;
    for (const auto& input : op.inputs) {
      if (input && !is_absent(*input)) touched.push_back(class_[input->index()]);
    }
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched.push_back(first_workspace_[id.index()] + w);
    touch(touched, now);
    std::set<std::size_t> base = {now};
    if (op.control == Control::loop) {
      run_loop(id, frame, base);
    } else {
      const auto bodies = graph_.bodies(id);
      run_body(id, bodies[bodies.size() == 1 ? 0 : choose(bodies.size())], frame, base);
    }
    const std::size_t exit = add_event(frame, base);
    touched.clear();
    for (const TensorId output : op.outputs) touched.push_back(class_[output.index()]);
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched.push_back(first_workspace_[id.index()] + w);
    touch(touched, exit);
    return exit;
  }

  void run_loop(OpId id, Frame& frame, std::set<std::size_t>& base) {
    const ScopeId body = graph_.bodies(id).front();
    const Scope& scope = graph_.scope(body);
    const std::size_t entered = add_turns(frame, base);
    base = {entered};
    for (const BodyInput& pair : scope.inputs) {
      if (is_carried(scope, pair.inner)) hand_over(pair.outer, pair.inner, entered);
    }
    for (std::size_t trip = 0, trips = choose(3); trip < trips && !fault_; ++trip) run_body(id, body, frame, base);
  }

  /// Afterwards `base` is the event at which the body, or the iteration, is over.
  void run_body(OpId id, ScopeId body, Frame& frame, std::set<std::size_t>& base) {
    for (auto at = current_.begin(); at != current_.end();) {
      at = home_[at->first] == body.index() ? current_.erase(at) : std::next(at);
    }
    Frame inside;
    inside.base = frame.base;
    inside.base.insert(base.begin(), base.end());
    run_scope(body, inside);
    std::set<std::size_t> all(inside.events.begin(), inside.events.end());
    all.insert(base.begin(), base.end());
    const std::size_t end = add_turns(frame, all);
    base = {end};
    if (!fault_) end_body(id, body, end);
  }

  void end_body(OpId id, ScopeId body, std::size_t now) {
    const Scope& scope = graph_.scope(body);
    const bool loop = graph_.op(id).control == Control::loop;
    std::set<std::size_t> written;
    for (const Copy* copy : copies_at(body, loop ? Copy::kBackEdge : static_cast<std::int64_t>(scope.op_count))) {
      const TensorId tensor(global(copy->body, copy->tensor));
      const Spot to{{copy->arena.index(), copy->region}, copy->offset.value(), copy->size.value()};
      if (places_.contains(tensor.index()) && meet(places_[tensor.index()], to)) fail("a copy onto itself");
      if (written.contains(class_[tensor.index()])) fail("a copy too late");
      touch({class_[tensor.index()]}, now);
      std::optional<TensorId> target;
      for (const BodyOutput& pair : scope.outputs) {
        if (!loop && pair.inner == tensor && places_[pair.outer.index()].same_place(to)) target = pair.outer;
      }
      for (const Carried& pair : scope.carried) {
        if (loop && pair.out == tensor && places_[pair.in.index()].same_place(to)) target = pair.in;
      }
      written.insert(class_[target->index()]);
      write(*target, to, now);
    }
    if (loop) {
      for (const Carried& pair : scope.carried) hand_over(pair.out, pair.in, now);
    } else {
      for (const BodyOutput& pair : scope.outputs) hand_over(pair.inner, pair.outer, now);
    }
  }
  const Graph& graph_;
  const Plan& plan_;
  bool keep_inputs_;
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

  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::string batch_;
  std::set<std::size_t> absent_;
  std::set<std::size_t> touched_now_;
  std::vector<std::set<std::size_t>> before_;  ///< By event.
  std::set<std::size_t> in_turn_;
  std::map<Byte, std::size_t> memory_;
  std::vector<Mark> marks_;
  std::vector<Writer> writers_;
  std::map<std::size_t, std::size_t> current_;  ///< By class: its writer.
  std::map<Byte, std::size_t> reserved_;
  std::map<const Copy*, std::size_t> copy_writer_;
  std::optional<std::string> fault_;
  bool gave_up_ = false;
};

}  // namespace stowage::oracle
