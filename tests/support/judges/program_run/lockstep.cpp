#include "support/judges/program_run/lockstep.hpp"

#include <algorithm>

#include "support/judges/shadow/groups.hpp"

namespace stowage::testing {
namespace {

bool contains(const std::vector<std::uint32_t>& list, std::size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

Lockstep::Lockstep(const Graph& graph) : graph_(graph), reference_(graph, Bytes(1)), done_(graph.ops().size()) {
  for (const Op& op : graph.ops()) packed_.push_back(is_concat(graph, op) || is_split(graph, op));
}

void Lockstep::begin_run(RunChoice choice) {
  reference_.begin_run();
  choice_ = std::move(choice);
  events_ = linear_schedule(graph_, choice_);
  waits_ = predecessors(graph_, choice_);
  next_ = 0;
  entered_after_.clear();
  find_absent();
}

void Lockstep::find_absent() {
  absent_.assign(graph_.tensors().size(), false);
  if (graph_.batches().empty()) return;
  const auto root = [&](TensorId tensor) { return graph_.root(tensor).tensor.index(); };
  std::vector<bool> written(absent_.size());
  for (const Op& op : graph_.ops()) {
    for (const TensorId output : op.outputs) {
      absent_[root(output)] = true;
      if (op.batch.empty() || op.batch == choice_.batch) written[root(output)] = true;
    }
  }
  for (std::size_t t = 0; t < absent_.size(); ++t) {
    const TensorFlags flags = reference_.flags(TensorId(t));
    if (written[t] || flags.any_of(kOwnAddress | TensorFlag::input)) absent_[t] = false;
  }
  for (const Scope& scope : graph_.scopes()) {
    for (const BodyInput& pair : scope.inputs) absent_[pair.inner.index()] = absent_[root(pair.outer)];
  }
  for (std::size_t t = 0; t < absent_.size(); ++t) absent_[t] = absent_[root(TensorId(t))];
}

// ---------------------------------------------------------------------------------------------------------- progress

/// Handles events until that one is handled. Ops without bodies are never passed over.
bool Lockstep::advance_to(OpId op, Event::Phase phase) {
  while (next_ < events_.size()) {
    const Event event = events_[next_];
    const bool here = event.op == op && event.phase == phase;
    if (!here && event.phase == Event::Phase::start && graph_.op(event.op).control == Control::none) break;
    ++next_;
    handle(event);
    if (here) return true;
  }
  find("the run came to " + describe(graph_, op) + " out of turn");
  return false;
}

void Lockstep::handle(const Event& event) {
  const Control control = graph_.op(event.op).control;
  switch (event.phase) {
    case Event::Phase::start:
      if (control == Control::loop) enter_loop(graph_.scope(graph_.bodies(event.op).front()));
      break;
    case Event::Phase::finish:
      if (control == Control::loop) leave_loop(graph_.scope(graph_.bodies(event.op).front()));
      break;
    case Event::Phase::enter:
      enter(event.scope);
      break;
    case Event::Phase::leave:
      leave(event.scope);
      break;
  }
}

std::size_t Lockstep::choose(OpId op) {
  if (!advance_to(op, Event::Phase::start) || next_ == events_.size()) return 0;
  return graph_.scope(events_[next_].scope).body;
}

bool Lockstep::repeat(OpId op, std::uint64_t iteration) {
  if (!advance_to(op, iteration == 0 ? Event::Phase::start : Event::Phase::leave)) return false;
  return next_ < events_.size() && events_[next_].op == op && events_[next_].phase == Event::Phase::enter;
}

void Lockstep::finish() {
  for (; next_ < events_.size(); ++next_) {
    const Event& event = events_[next_];
    if (event.phase == Event::Phase::start && graph_.op(event.op).control == Control::none)
      return find("the run never came to " + describe(graph_, event.op));
    handle(event);
  }
}

// ------------------------------------------------------------------------------------------------------------ bodies

void Lockstep::enter_loop(const Scope& scope) {
  for (const BodyInput& pair : scope.inputs) {
    const bool carried = std::any_of(scope.carried.begin(), scope.carried.end(),
                                     [&](const Carried& each) { return each.in == pair.inner; });
    if (carried) reference_.put(pair.inner, 0, reference_.take(pair.outer));
  }
}

void Lockstep::enter(ScopeId id) {
  const Scope& scope = graph_.scope(id);
  std::vector<std::pair<TensorId, Reference::Value>> carried;
  for (const Carried& pair : scope.carried) carried.emplace_back(pair.in, reference_.take(pair.in));
  reference_.forget(id);
  for (const auto& [in, value] : carried) reference_.put(in, 0, value);
  std::vector<std::pair<OpId, std::size_t>> after = requirements(scope.op);
  require(scope.op, after);
  for (std::size_t op = 0; op < scope.op_count; ++op) require(OpId(scope.first_op.index() + op), after);
  entered_after_[id] = std::move(after);
}

void Lockstep::leave(ScopeId id) {
  const Scope& scope = graph_.scope(id);
  std::vector<std::pair<TensorId, Reference::Value>> moved;
  if (graph_.op(scope.op).control == Control::loop) {
    for (const Carried& pair : scope.carried) moved.emplace_back(pair.in, reference_.take(pair.out));
  } else {
    for (const BodyOutput& pair : scope.outputs) moved.emplace_back(pair.outer, reference_.take(pair.inner));
  }
  for (const auto& [to, value] : moved) reference_.put(to, 0, value);
}

void Lockstep::leave_loop(const Scope& scope) {
  for (const BodyOutput& pair : scope.outputs) {
    const auto carried = std::find_if(scope.carried.begin(), scope.carried.end(),
                                      [&](const Carried& each) { return each.out == pair.inner; });
    reference_.put(pair.outer, 0, reference_.take(carried == scope.carried.end() ? pair.inner : carried->in));
  }
}

void Lockstep::move_packed(const Op& op) {
  const auto count = [](Bytes bytes) { return static_cast<std::size_t>(bytes.value()); };
  if (is_concat(graph_, op)) {
    for (const GroupMember& member : input_members(graph_, op))
      reference_.put(op.outputs.front(), count(member.offset), reference_.take(member.tensor));
    return;
  }
  const auto whole =
      std::find_if(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return input.has_value(); });
  for (const GroupMember& member : output_members(graph_, op)) {
    const std::size_t size = reference_.bytes(member.tensor).size();
    reference_.put(member.tensor, 0, reference_.take(**whole, count(member.offset), size));
  }
}

// --------------------------------------------------------------------------------------------------------------- ops

Lockstep::Expected Lockstep::begin(const OpCall& call) {
  Expected expected{.work = {.stream = call.stream, .seed = mix(mix(11, call.op.index()), ++time_)}};
  expected.number = expected.work.seed;
  expected.after = requirements(call.op);
  return expected;
}

/// What a body gets lies where it is until the last iteration is over; other inputs are read once.
std::optional<TensorId> Lockstep::value_of(OpId id, std::size_t input, std::uint64_t iteration) const {
  const Op& op = graph_.op(id);
  const std::optional<TensorId> value = op.inputs[input];
  if (iteration == 0 || !value) return value;
  std::vector<TensorId> inner;
  for (const BodyInput& pair : graph_.scope(graph_.bodies(id).front()).inputs) {
    if (pair.outer == *value) inner.push_back(pair.inner);
  }
  if (inner.empty()) return std::nullopt;
  const auto before = static_cast<std::size_t>(
      std::count(op.inputs.begin(), op.inputs.begin() + static_cast<std::ptrdiff_t>(input), value));
  return inner[std::min(before, inner.size() - 1)];
}

Lockstep::Expected Lockstep::enter_work(const OpCall& call, std::uint64_t iteration) {
  Expected expected = begin(call);
  if (iteration > 0) require(call.op, expected.after);  // the whole iteration before
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (const std::optional<TensorId> value = value_of(call.op, i, iteration))
      add_value(*value, call.inputs[i], i, expected);
  }
  ++done_[call.op.index()];
  return expected;
}

std::vector<Lockstep::Seen> Lockstep::seen_by(const OpCall& call, std::uint64_t iteration) {
  std::vector<Seen> all;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::optional<TensorId> value = value_of(call.op, i, iteration);
    if (value && !reference_.bytes(*value).empty() && !is_absent(*value))
      all.push_back({i, *value, reference_.take(*value)});
  }
  return all;
}

Lockstep::Expected Lockstep::run(const OpCall& call) {
  const Op& op = graph_.op(call.op);
  const bool in_turn = advance_to(call.op, Event::Phase::start);
  Expected expected = begin(call);
  if (!in_turn) return expected;
  check_group(call, true);
  check_group(call, false);
  check_addresses(call);
  if (packed_[call.op.index()]) {
    move_packed(op);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) add_value(op.outputs[i], call.outputs[i], 300 + i, expected);
  } else {
    add_reads(call, expected);
    add_workspaces(call, expected);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const std::span<std::byte> right = reference_.bytes(op.outputs[i]);
      if (right.empty()) continue;
      expected.work.writes.push_back({call.outputs[i], right.size(), 100 + i});
      write_bytes(right, expected.number, 100 + i);
      reference_.mark_written(op.outputs[i]);
    }
  }
  ++done_[call.op.index()];
  return expected;
}

void Lockstep::add_read(const OpWork::Part& part, std::span<const std::byte> right, Expected& expected) {
  if (right.empty()) return;
  expected.work.reads.push_back(part);
  expected.number += number_of(right, part.salt);
}

/// What was never written is not read.
void Lockstep::add_value(TensorId tensor, std::byte* address, std::uint64_t salt, Expected& expected) {
  if (reference_.bytes(tensor).empty() || is_absent(tensor)) return;
  const Reference::Value value = reference_.take(tensor);
  for (const WrittenCells::Cells& cells : value.written) {
    const std::size_t size = cells.last - cells.first;
    add_read({address + cells.first, size, mix(salt, cells.first)}, std::span(value.bytes).subspan(cells.first, size),
             expected);
  }
}

void Lockstep::add_reads(const OpCall& call, Expected& expected) {
  const Op& op = graph_.op(call.op);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i]) add_value(*op.inputs[i], call.inputs[i], i, expected);
  }
  for (const std::uint32_t i : op.zero_fill.outputs) {
    const std::size_t size = reference_.bytes(op.outputs[i]).size();
    const std::vector<std::byte> filled(size, std::byte{op.zero_fill.value});
    add_read({call.outputs[i], size, mix(50, i)}, filled, expected);
  }
}

void Lockstep::add_workspaces(const OpCall& call, Expected& expected) {
  const Op& op = graph_.op(call.op);
  std::vector<std::pair<std::size_t, std::vector<std::byte>>> kept;
  for (std::size_t i = 0; i < op.workspaces.size(); ++i) {
    const auto size = static_cast<std::size_t>(op.workspaces[i].size.value());
    if (size == 0) continue;
    const bool filled = contains(op.zero_fill.workspaces, i);
    const auto session = sessions_.find({call.op, i});
    if (filled) {
      add_read({call.workspaces[i], size, mix(60, i)}, std::vector<std::byte>(size, std::byte{op.zero_fill.value}),
               expected);
    } else if (session != sessions_.end()) {
      add_read({call.workspaces[i], size, mix(60, i)}, session->second, expected);
    }
    expected.work.writes.push_back({call.workspaces[i], size, 200 + i});
    if (padding == Padding::own) {
      const Bytes end = align_up(op.workspaces[i].size, graph_.alignment(op.workspaces[i]));
      expected.work.touches.push_back({call.workspaces[i] + size, static_cast<std::size_t>(end.value()) - size, 0});
    }
    if (op.workspaces[i].scope == WorkspaceScope::session && !filled)
      kept.emplace_back(i, std::vector<std::byte>(size));
  }
  for (auto& [i, bytes] : kept) {
    write_bytes(bytes, expected.number, 200 + i);
    sessions_[{call.op, i}] = std::move(bytes);
  }
}

void Lockstep::check_group(const OpCall& call, bool inputs) {
  const Op& op = graph_.op(call.op);
  if ((inputs ? op.contiguous_inputs : op.contiguous_outputs) != Contiguity::padded) return;
  const std::byte* start = nullptr;
  for (const GroupMember& member : inputs ? input_members(graph_, op) : output_members(graph_, op)) {
    const std::byte* const address = (inputs ? call.inputs : call.outputs)[member.position];
    if (address == nullptr) continue;
    if (start == nullptr) start = address - member.offset.value();
    if (address != start + member.offset.value())
      find(describe(graph_, member.tensor) + " does not lie in the group of " + describe(graph_, call.op));
  }
}

void Lockstep::check_addresses(const OpCall& call) {
  const Op& op = graph_.op(call.op);
  const auto check = [&](const char* list, std::span<std::byte* const> addresses) {
    for (std::size_t i = 0; i < addresses.size() && op.fixed_address; ++i) {
      const std::string who = list + std::to_string(i) + " of " + describe(graph_, call.op);
      const auto [known, first] = fixed_.try_emplace(who, addresses[i]);
      if (!first && known->second != addresses[i]) find(who + ", which needs a fixed address, has moved");
    }
  };
  check("input ", call.inputs);
  check("output ", call.outputs);
  check("workspace ", call.workspaces);
}

// ------------------------------------------------------------------------------------------------------------- order

void Lockstep::require(OpId op, std::vector<std::pair<OpId, std::size_t>>& list) const {
  if (done_[op.index()] > 0) list.emplace_back(op, done_[op.index()]);
  for (const ScopeId body : graph_.bodies(op)) {
    const Scope& scope = graph_.scope(body);
    for (std::size_t i = 0; i < scope.op_count; ++i) require(OpId(scope.first_op.index() + i), list);
  }
}

std::vector<std::pair<OpId, std::size_t>> Lockstep::work_in(ScopeId body) const {
  std::vector<std::pair<OpId, std::size_t>> list;
  const Scope& scope = graph_.scope(body);
  for (std::size_t i = 0; i < scope.op_count; ++i) require(OpId(scope.first_op.index() + i), list);
  return list;
}

/// What must be done before the op starts: the graph's demands, what its stream had before, and what was to be done
/// before the body that it is in began.
std::vector<std::pair<OpId, std::size_t>> Lockstep::requirements(OpId op) const {
  const ScopeId scope = graph_.scope_of(op);
  std::vector<std::pair<OpId, std::size_t>> list;
  if (const auto entered = entered_after_.find(scope); entered != entered_after_.end()) list = entered->second;
  for (const std::size_t before : waits_[op.index()]) require(OpId(before), list);
  for (std::size_t i = graph_.scope(scope).first_op.index(); i < op.index(); ++i) {
    if (graph_.ops()[i].stream == graph_.op(op).stream && !graph_.ops()[i].no_task) require(OpId(i), list);
  }
  return list;
}

}  // namespace stowage::testing
