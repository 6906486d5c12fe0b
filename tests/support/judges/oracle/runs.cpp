#include "support/judges/oracle/runs.hpp"

#include <algorithm>

namespace stowage::oracle {

// --------------------------------------------------------------------------------------------------------------- ways

std::optional<std::string> Runs::judge(std::size_t max_runs) {
  if (has_needless_edge()) return "needless edge";
  if (std::optional<std::string> fault = not_apart()) return fault;
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
  if (has_needless_clear()) return "needless clear";
  return std::nullopt;
}

bool Runs::has_needless_clear() const {
  for (std::size_t i = 0; i < plan_.clears.size(); ++i) {
    if (!is_met(i)) return true;
  }
  return false;
}

std::size_t Runs::choose(std::size_t count) {
  if (depth_ == choices_.size()) choices_.push_back({0, count});
  return choices_[depth_++].taken;
}

bool Runs::next_way() {
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

void Runs::run(const std::string& batch) {
  batch_ = batch;
  depth_ = 0;
  waiting_.clear();
  forget_events();
  forget_marks();
  find_absent();
  find_touched();
  start();
  Frame root;
  const std::size_t first = add_turns(root, {});
  root.base = {first};
  for (const Clear& clear : plan_.clears) {
    if (clear.before == OpId(0)) fill(clear, first);
  }
  run_scope(ScopeId(0), root);
  check_end();
  check_order_of_takers();
}

// -------------------------------------------------------------------------------------------------------------- start

void Runs::find_absent() {
  absent_.clear();
  if (graph_.batches().empty()) return;
  std::set<std::size_t> written;
  for (const Op& op : graph_.ops()) {
    for (const TensorId output : op.outputs) {
      const TensorId root = graph_.root(output).tensor;
      if (active(op)) written.insert(root.index());
      if (!facts_.flags[facts_.owner(root)].any_of(kOwnAddress | TensorFlag::input)) absent_.insert(root.index());
    }
  }
  for (const std::size_t root : written) absent_.erase(root);
  for (const Scope& scope : graph_.scopes()) {
    for (const BodyInput& pair : scope.inputs) {
      if (is_absent(pair.outer)) absent_.insert(pair.inner.index());
    }
  }
}

void Runs::find_touched() {
  touched_now_.assign(facts_.owners.size(), false);
  std::vector<bool> entered(graph_.scopes().size(), true);
  for (std::size_t s = 0; s < graph_.scopes().size(); ++s) {
    const Scope& scope = graph_.scopes()[s];
    if (s > 0) entered[s] = entered[scope.parent.index()] && active(graph_.op(scope.op));
    for (std::size_t i = 0; entered[s] && i < scope.op_count; ++i) {
      const OpId id(scope.first_op.index() + i);
      const Op& op = graph_.op(id);
      if (!active(op) || op.no_task) continue;
      for (const auto& input : op.inputs) {
        if (input && !is_absent(*input)) touched_now_[facts_.owner(*input)] = true;
      }
      for (const TensorId output : op.outputs) touched_now_[facts_.owner(output)] = true;
      for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched_now_[facts_.owner(id, w)] = true;
    }
  }
}

void Runs::start() {
  for (std::size_t owner = 0; owner < extent_.size(); ++owner) {
    if (extent_[owner].empty()) continue;
    const TensorFlags flags = facts_.flags[owner];
    const bool caller = flags.any_of({TensorFlag::input, TensorFlag::output});
    const bool alone = flags.has(TensorFlag::no_reuse) && (caller || facts_.touched[owner]);
    if (facts_.is_persistent(owner) || facts_.session[owner] || alone) reserve(owner);
  }
  for (std::size_t owner = 0; owner < extent_.size(); ++owner) {
    if (extent_[owner].empty() || !is_tracked(owner)) continue;
    const bool persistent = facts_.is_persistent(owner);
    const bool input = facts_.flags[owner].has(TensorFlag::input) && !persistent;
    const bool idle_output = facts_.flags[owner].has(TensorFlag::output) && !facts_.touched[owner];
    if (!persistent && !input && !idle_output) continue;
    const std::size_t writer = begin_at_start(owner);
    if (!input || touched_now_[owner]) continue;
    writers_[writer].waits_for = first_task();
    waiting_.push_back(writer);
  }
}

std::size_t Runs::first_task() const {
  if (graph_.stream_count() == 1) return 0;
  std::size_t op = 0;
  const std::size_t count = graph_.scopes().front().op_count;
  while (op + 1 < count && (graph_.ops()[op].no_task || !active(graph_.ops()[op]))) ++op;
  return op;
}

void Runs::check_end() {
  for (std::size_t owner = 0; owner < current_.size(); ++owner) {
    if (!is_begun(owner)) continue;
    const TensorFlags flags = facts_.flags[owner];
    const bool kept = flags.has(TensorFlag::output) || (flags.has(TensorFlag::input) && keep_inputs_);
    if (kept && !intact(current_[owner])) fail("lost at the end: owner " + std::to_string(owner));
  }
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const TensorFlags flags = graph_.tensors()[t].flags;
    const bool kept = flags.any_of({TensorFlag::output, TensorFlag::constant, TensorFlag::variable}) ||
                      (flags.has(TensorFlag::input) && keep_inputs_);
    const std::size_t owner = facts_.owner(TensorId(t));
    if (kept && is_begun(owner)) read_shared(TensorId(t), spot_of(TensorId(t)));
  }
}

// ---------------------------------------------------------------------------------------------------------------- ops

void Runs::run_scope(ScopeId id, Frame& frame) {
  const Scope& scope = graph_.scope(id);
  for (std::size_t i = 0; i < scope.op_count && !fault_; ++i) run_op(OpId(scope.first_op.index() + i), frame);
}

void Runs::run_op(OpId id, Frame& frame) {
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
    if (clear.before == id && id != OpId(0)) fill(clear, first);
  }
  for (const Copy* copy : copies) run_copy(*copy, id, first);
  std::size_t last = first;
  if (op.no_task) release(id, std::nullopt);
  if (!op.no_task) {
    const std::size_t now = add_event(frame, {first});
    release(id, now);
    last = op.control == Control::none ? run_task(id, now) : run_bodies(id, frame, now);
  }
  frame.last_on[op.stream.index()] = last;
  frame.event_of[id.index()] = last;
  for (const TensorId output : op.outputs) frame.producer[output.index()] = id;
}

/// Inputs that nobody reads are over with this op.
void Runs::release(OpId id, std::optional<std::size_t> event) {
  for (const std::size_t number : waiting_) {
    Writer& writer = writers_[number];
    if (writer.waits_for != id.index()) continue;
    writer.waits_for.reset();
    if (event) writer.accesses.push_back(*event);
  }
}

bool Runs::is_packed(const Op& op) {
  return (op.contiguous_inputs == Contiguity::packed && op.inputs.size() > 1) ||
         (op.contiguous_outputs == Contiguity::packed && op.outputs.size() > 1);
}

std::size_t Runs::run_task(OpId id, std::size_t now) {
  const Op& op = graph_.op(id);
  std::vector<std::size_t> touched;
  for (const auto& input : op.inputs) {
    if (!input || is_absent(*input)) continue;
    const bool grouped = op.contiguous_inputs != Contiguity::none && op.inputs.size() > 1;
    const Copy* const copy = grouped ? copy_at(id, *input) : nullptr;
    if (!copy) {
      touched.push_back(facts_.owner(*input));
      read_shared(*input, spot_of(*input));
    } else if (op.contiguous_inputs == Contiguity::padded) {
      access_copy(*copy, now);
    }
  }
  for (const std::uint32_t output : op.zero_fill.outputs) check_filled(spot_of(op.outputs[output]), op.zero_fill.value);
  for (const std::uint32_t w : op.zero_fill.workspaces)
    check_filled(places_[facts_.owner(id, w)].value_or(Spot{}), op.zero_fill.value);
  for (const TensorId output : op.outputs) touched.push_back(facts_.owner(output));
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched.push_back(facts_.owner(id, w));
  touch(touched, now, id);
  for (const TensorId output : op.outputs)
    is_packed(op) ? derive_shared(output) : write_shared(output, spot_of(output), now, id);
  return now;
}

void Runs::access_copy(const Copy& copy, std::size_t now) {
  const std::size_t writer = copy_writer_[&copy];
  if (!intact(writer)) fail("copy lost");
  writers_[writer].accesses.push_back(now);
}

/// `op`: whom it comes before, for copies to what the op reads.
void Runs::run_copy(const Copy& copy, OpId op, std::size_t now) {
  const TensorId tensor = copy.tensor;
  const Op& of = graph_.op(op);
  const bool split = of.contiguous_outputs == Contiguity::packed &&
                     std::find(of.outputs.begin(), of.outputs.end(), tensor) != of.outputs.end();
  const TensorId source = split ? *of.inputs.front() : tensor;
  const Spot to = spot_of(copy, graph_.tensor(tensor).size);
  if (!split && is_placed(source) && meet(spot_of(source), to)) fail("a copy onto itself");
  if (!is_absent(source)) {
    touch({facts_.owner(source)}, now);
    read_shared(source, spot_of(source));
  }
  const auto write_to = [&](TensorId target) {
    write(target, to, now);
    write_shared(target, to, now);
  };
  if (split) {
    write_to(tensor);
  } else if (of.control == Control::loop) {
    write_to(*carried_target(op, tensor, to));
  } else if (of.contiguous_inputs == Contiguity::packed) {
    write_to(of.outputs.front());
  } else {
    copy_writer_[&copy] = add_writer(kNone);
    write_copy(copy_writer_[&copy], to, now);
  }
}

// ------------------------------------------------------------------------------------------------------------- bodies

void Runs::hand_over(TensorId from, TensorId to, std::size_t now) {
  const std::size_t source = facts_.owner(from);
  if (source == facts_.owner(to) || !at_one_place(from, to) || is_absent(from)) return;
  const Spot spot = spot_of(to);
  if (!is_begun(source)) touch({source}, now);
  if (!holds(current_[source], spot)) fail("handed over too late");
  read_shared(from, spot);
  writers_[current_[source]].accesses.push_back(now);
  write(to, spot, now);
  write_shared(to, spot, now);
}

std::size_t Runs::run_bodies(OpId id, Frame& frame, std::size_t now) {
  const Op& op = graph_.op(id);
  std::vector<std::size_t> touched;
  for (const auto& input : op.inputs) {
    if (!input || is_absent(*input)) continue;
    touched.push_back(facts_.owner(*input));
    read_shared(*input, spot_of(*input));
  }
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched.push_back(facts_.owner(id, w));
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
  for (const TensorId output : op.outputs) touched.push_back(facts_.owner(output));
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) touched.push_back(facts_.owner(id, w));
  touch(touched, exit);
  return exit;
}

void Runs::run_loop(OpId id, Frame& frame, std::set<std::size_t>& base) {
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
void Runs::run_body(OpId id, ScopeId body, Frame& frame, std::set<std::size_t>& base) {
  for (std::size_t owner = 0; owner < current_.size(); ++owner) {
    if (facts_.home[owner] == body.index() && !facts_.is_persistent(owner)) forget_owner(owner);
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

void Runs::end_body(OpId id, ScopeId body, std::size_t now) {
  const Scope& scope = graph_.scope(body);
  const bool loop = graph_.op(id).control == Control::loop;
  std::set<std::size_t> written;
  for (const Copy* copy : copies_at(body, loop ? CopyMoment::at_back_edge() : CopyMoment::at_body_end())) {
    const TensorId tensor = copy->tensor;
    const Spot to = spot_of(*copy, copy->size);
    if (is_placed(tensor) && meet(spot_of(tensor), to)) fail("a copy onto itself");
    if (written.contains(facts_.owner(tensor))) fail("a copy too late");
    touch({facts_.owner(tensor)}, now);
    read_shared(tensor, spot_of(tensor));
    const TensorId target = *target_at_end(scope, loop, tensor, to);
    written.insert(facts_.owner(target));
    write(target, to, now);
    write_shared(target, to, now);
  }
  if (loop) {
    for (const Carried& pair : scope.carried) hand_over(pair.out, pair.in, now);
  } else {
    for (const BodyOutput& pair : scope.outputs) hand_over(pair.inner, pair.outer, now);
  }
}

std::optional<TensorId> Runs::target_at_end(const Scope& scope, bool loop, TensorId tensor, const Spot& to) const {
  std::optional<TensorId> target;
  for (const BodyOutput& pair : scope.outputs) {
    if (!loop && pair.inner == tensor && spot_of(pair.outer).same_place(to)) target = pair.outer;
  }
  for (const Carried& pair : scope.carried) {
    if (loop && pair.out == tensor && spot_of(pair.in).same_place(to)) target = pair.in;
  }
  return target;
}

}  // namespace stowage::oracle
