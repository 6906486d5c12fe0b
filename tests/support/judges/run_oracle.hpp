#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/judges/run_marks.hpp"

/// For tests: a judge of plans that runs the program, byte by byte, in every way that it can go: each batch, each body of each
/// branch, no, one and two trips of each loop. Every value writes marks of its own, and must find them again. What streams leave
/// open is decided by sets of predecessors. It shares nothing with the verifier, and has no states to join: it is one path at a
/// time.
///
/// Each header is a layer on the one before: run_facts (what holds in every run), run_order (events), run_marks (bytes), and this
/// one, which goes through the ops.
namespace stowage::oracle {

class RunOracle : private RunMarks {
 public:
  RunOracle(const Graph& graph, const Plan& plan, bool keep_inputs = false) : RunMarks(graph, plan), keep_inputs_(keep_inputs) {}

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
  struct Choice {
    std::size_t taken;
    std::size_t count;
  };

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

  bool keep_inputs_;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::set<std::size_t> absent_;
  std::set<std::size_t> touched_now_;
  std::map<const Copy*, std::size_t> copy_writer_;
  bool gave_up_ = false;
};

}  // namespace stowage::oracle
