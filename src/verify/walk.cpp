#include "verify/walk.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "verify/ledger.hpp"
#include "verify/provenance.hpp"
#include "verify/run.hpp"

namespace stowage::verification {
namespace {

/// By scope: the values that begin again each time it is entered. None for the root, which is entered once.
using Locals = std::vector<std::vector<HolderId>>;

Locals find_locals(const Facts& facts) {
  Locals locals(facts.input.graph.scopes().size());
  if (locals.size() == 1) return locals;  // no bodies
  for (HolderId value = 0; value < facts.input.values.size(); ++value) {
    const std::size_t home = facts.input.values[ValueId(value)].home.index();
    if (home > 0 && !facts.input.values[ValueId(value)].persistent()) locals[home].push_back(value);
  }
  return locals;
}

/// Index of a copy in `Copies`.
using CopyIndex = std::uint32_t;

/// Whether the op passes bytes on without touching them: a concat or split of at least two parts.
bool is_packed(const Op& op) {
  const auto present =
      std::count_if(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return input.has_value(); });
  return (op.contiguous_inputs == Contiguity::packed && present > 1) ||
         (op.contiguous_outputs == Contiguity::packed && op.outputs.size() > 1);
}

Moment moment_of(OpId op, Phase phase) { return {static_cast<std::uint32_t>(op.index()), phase}; }

/// Executes the graph once, symbolically, for one batch.
class Walk {
 public:
  Walk(const Facts& facts, const Locals& locals, const Run& run, const Ledger::Setting& setting, Conflicts& conflicts)
      : facts_(facts),
        graph_(facts.input.graph),
        values_(facts.input.values),
        locals_(locals),
        run_(run),
        conflicts_(conflicts),
        ledger_(setting, conflicts) {}

  void run() {
    reserve_whole_run();
    begin_before_ops();
    for (const std::uint32_t clear : facts_.clears.at_start()) ledger_.clear(clear, {0, Phase::before});
    walk_scope(ScopeId(0));
    for (HolderId value = 0; value < values_.size() && !conflicts_.full(); ++value) {
      if (is_kept(value)) ledger_.require_at_end(value);
    }
    require_shared_at_end();
  }
  [[nodiscard]] const std::vector<bool>& met_clears() const { return ledger_.met_clears(); }

 private:
  /// Reserves the bytes of values that share them with nothing during the run.
  void reserve_whole_run();
  /// Begins the values that exist before the first op: inputs, constants, variables, and outputs that no op accesses.
  void begin_before_ops();
  /// Checks that what the caller or the next run reads was not lost to values that share its bytes.
  void require_shared_at_end();
  void walk_scope(ScopeId scope);
  /// The clears and copies before the op, then the op.
  void walk_op(OpId id);
  void run_op(OpId id);
  void access_inputs(OpId id, Moment moment);
  void access_input(TensorId tensor, Moment moment);
  /// What the op's writing means for values that share bytes with its outputs.
  void write_outputs(OpId id, Moment moment);
  void access_workspaces(OpId id, Moment moment);
  /// Checks that what must be filled when the op starts is filled.
  void check_fills(OpId id);

  /// An op with bodies: its entry, the bodies, its exit.
  void run_bodies(OpId id);
  void run_branch(OpId id);
  void run_loop(OpId id);
  /// Walks the body from the current state. Returns the changes, and restores the current state.
  Delta run_body(OpId id, ScopeId body);
  /// Passes the results of the body on: to the op's outputs, or to the next iteration.
  void end_body(OpId id, ScopeId body);
  void end_iteration(ScopeId body, Moment moment);
  /// Hands the value over if the plan has both tensors at one place; otherwise a copy does it.
  void hand_over(TensorId from, TensorId to, Moment moment);

  void run_copy(CopyIndex index, Moment moment);
  /// The copy that the op reads instead of the tensor, if there is one.
  [[nodiscard]] std::optional<CopyIndex> copy_for(OpId id, TensorId tensor) const;

  /// Whether the caller reads the value after the run.
  [[nodiscard]] bool is_kept(HolderId value) const {
    const TensorFlags flags = values_[ValueId(value)].flags;
    return flags.has(TensorFlag::output) || (flags.has(TensorFlag::input) && facts_.input.options.keep_inputs);
  }
  [[nodiscard]] HolderId holder(TensorId tensor) const { return static_cast<HolderId>(values_.of(tensor).index()); }
  [[nodiscard]] HolderId holder(OpId op, std::size_t workspace) const {
    return static_cast<HolderId>(values_.of(op, workspace).index());
  }
  /// The bytes from a place on; nothing if there are none, or if the place is absent or not valid.
  [[nodiscard]] std::optional<Spot> spot_of(const Place* place, Bytes size) const;
  [[nodiscard]] std::optional<Operand> operand_of(TensorId tensor) const;

  const Facts& facts_;
  const Graph& graph_;
  const Values& values_;
  const Locals& locals_;
  const Run& run_;
  Conflicts& conflicts_;
  Ledger ledger_;
};

void Walk::reserve_whole_run() {
  for (HolderId id = 0; id < values_.size(); ++id) {
    const Value& value = values_[ValueId(id)];
    if (!value.in_use()) continue;
    const bool needed = value.flags.any_of({TensorFlag::input, TensorFlag::output}) || value.accessed;
    const bool alone = value.flags.has(TensorFlag::no_reuse) && needed;  // in the runs of all batches
    if (value.persistent() || value.session || alone) ledger_.reserve(id);
  }
}

void Walk::begin_before_ops() {
  for (HolderId id = 0; id < values_.size(); ++id) {
    const Value& value = values_[ValueId(id)];
    const bool input = value.flags.has(TensorFlag::input);
    const bool untouched_output = value.flags.has(TensorFlag::output) && !value.accessed;
    if (!value.in_use() || !(input || untouched_output || value.persistent())) continue;
    ledger_.begin_at_start(id);
    const bool unread = input && !value.persistent() && !run_.accesses(id);  // it is needed until the first task
    if (unread && facts_.claims.has_any(id)) ledger_.state().touch(id, {run_.first_task(), Phase::run});
  }
}

void Walk::require_shared_at_end() {
  if (!ledger_.shared().any()) return;
  for (std::size_t t = 0; t < graph_.tensors().size() && !conflicts_.full(); ++t) {
    const TensorId tensor(t);
    const TensorFlags flags = graph_.tensor(tensor).flags;
    const bool kept = flags.any_of({TensorFlag::output, TensorFlag::constant, TensorFlag::variable}) ||
                      (flags.has(TensorFlag::input) && facts_.input.options.keep_inputs);
    if (!kept || !ledger_.state()[holder(tensor)].begun) continue;
    if (const std::optional<Operand> operand = operand_of(tensor)) ledger_.shared().read(*operand, std::nullopt);
  }
}

void Walk::walk_scope(ScopeId id) {
  const Scope& scope = graph_.scope(id);
  for (std::size_t i = 0; i < scope.op_count && !conflicts_.full(); ++i) walk_op(OpId(scope.first_op.index() + i));
}

void Walk::walk_op(OpId id) {
  if (!run_.is_active(id)) return;
  const Moment before = moment_of(id, Phase::before);
  for (const std::uint32_t clear : facts_.clears.before(before.op)) ledger_.clear(clear, before);
  for (const CopyIndex copy : facts_.copies.before(id)) run_copy(copy, before);
  if (graph_.op(id).no_task) return;
  if (graph_.op(id).control == Control::none) {
    run_op(id);
  } else {
    run_bodies(id);
  }
}

void Walk::run_op(OpId id) {
  const Op& op = graph_.op(id);
  const Moment now = moment_of(id, Phase::run);
  access_inputs(id, now);
  if (!op.zero_fill.empty()) check_fills(id);
  for (const TensorId output : op.outputs) ledger_.access(holder(output), now);
  access_workspaces(id, now);
  ledger_.settle(now);
  write_outputs(id, now);
}

void Walk::write_outputs(OpId id, Moment moment) {
  if (!ledger_.shared().any()) return;
  const bool packed = is_packed(graph_.op(id));
  for (const TensorId output : graph_.op(id).outputs) {
    const std::optional<Operand> operand = operand_of(output);
    if (!operand) continue;
    packed ? ledger_.shared().derive(*operand) : ledger_.shared().write(*operand, moment);
  }
}

void Walk::access_input(TensorId tensor, Moment moment) {
  ledger_.access(holder(tensor), moment);
  if (!ledger_.shared().any()) return;
  if (const std::optional<Operand> operand = operand_of(tensor)) ledger_.shared().read(*operand, moment);
}

void Walk::access_inputs(OpId id, Moment moment) {
  for (const std::optional<TensorId>& input : graph_.op(id).inputs) {
    if (!input || run_.is_absent(*input)) continue;
    const std::optional<CopyIndex> copy = copy_for(id, *input);
    if (!copy) {
      access_input(*input, moment);
    } else if (facts_.copies[*copy].role == CopyRole::group_input) {
      ledger_.access(facts_.claims.of_copy(*copy), moment);
    }  // else a part of the op's packed output, which the op leaves as the copy wrote it
  }
}

void Walk::access_workspaces(OpId id, Moment moment) {
  for (std::size_t w = 0; w < graph_.op(id).workspaces.size(); ++w) ledger_.access(holder(id, w), moment);
}

void Walk::check_fills(OpId id) {
  const Op& op = graph_.op(id);
  for (const std::uint32_t output : op.zero_fill.outputs) {
    const TensorId tensor = op.outputs[output];
    const std::optional<Spot> spot = spot_of(facts_.input.places.valid(tensor), graph_.tensor(tensor).size);
    if (spot) ledger_.require_filled(id, holder(tensor), *spot, op.zero_fill.value);
  }
  for (const std::uint32_t w : op.zero_fill.workspaces) {
    const std::optional<Spot> spot = spot_of(facts_.input.places.of(WorkspaceId{id, w}), op.workspaces[w].size);
    if (spot) ledger_.require_filled(id, holder(id, w), *spot, op.zero_fill.value);
  }
}

std::optional<Spot> Walk::spot_of(const Place* place, Bytes size) const {
  if (!place || !place->cell || size == Bytes(0)) return std::nullopt;
  const std::optional<ByteRange> bytes = range_at(place->offset, size);
  if (!bytes) return std::nullopt;
  return Spot{*place->cell, *bytes};
}

std::optional<Operand> Walk::operand_of(TensorId tensor) const {
  const std::optional<Spot> spot = spot_of(facts_.input.places.valid(tensor), graph_.tensor(tensor).size);
  if (!spot) return std::nullopt;
  return Operand{tensor, holder(tensor), *spot};
}

// ------------------------------------------------------------------------------------------------------------- bodies

void Walk::run_bodies(OpId id) {
  const Op& op = graph_.op(id);
  const Moment entry = moment_of(id, Phase::run);
  const Moment exit = moment_of(id, Phase::exit);
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input && !run_.is_absent(*input)) access_input(*input, entry);
  }
  access_workspaces(id, entry);
  ledger_.settle(entry);
  if (op.control == Control::loop) {
    run_loop(id);
  } else {
    run_branch(id);
  }
  for (const TensorId output : op.outputs) ledger_.access(holder(output), exit);
  access_workspaces(id, exit);
  ledger_.settle(exit);
}

void Walk::run_branch(OpId id) {
  std::vector<Delta> ends;
  for (const ScopeId body : graph_.bodies(id)) ends.push_back(run_body(id, body));
  ledger_.state().join(ends);
}

void Walk::run_loop(OpId id) {
  const ScopeId body = graph_.bodies(id).front();
  const Scope& scope = graph_.scope(body);
  for (const BodyInput& pair : scope.inputs) {
    if (is_carried(scope, pair.inner)) hand_over(pair.outer, pair.inner, moment_of(id, Phase::inside));
  }
  // The first walk is for the state at the end of an iteration. The second one reports; it is not needed while a loop
  // around this one is in its own first walk.
  const bool was_quiet = conflicts_.is_quiet();
  conflicts_.set_quiet(true);
  const std::vector<Delta> before_iteration = {Delta{}, run_body(id, body)};
  conflicts_.set_quiet(was_quiet);
  ledger_.state().join(before_iteration);
  if (!was_quiet) run_body(id, body);
}

Delta Walk::run_body(OpId id, ScopeId body) {
  ledger_.state().enter();
  for (const HolderId value : locals_[body.index()]) ledger_.state().forget(value);
  walk_scope(body);
  end_body(id, body);
  return ledger_.state().leave();
}

void Walk::end_body(OpId id, ScopeId body) {
  const Moment now = moment_of(id, Phase::inside);
  ledger_.state().fold(static_cast<std::uint32_t>(body.index()), now);
  if (graph_.op(id).control == Control::loop) {
    end_iteration(body, now);
    return;
  }
  for (const CopyIndex copy : facts_.copies.at_end(body)) run_copy(copy, now);
  for (const BodyOutput& pair : graph_.scope(body).outputs) hand_over(pair.inner, pair.outer, now);
}

/// No copy overwrites the source of another one: what is carried on shares no memory with what another pair carries in,
/// or the graph could not have been built.
void Walk::end_iteration(ScopeId body, Moment moment) {
  for (const CopyIndex copy : facts_.copies.at_back_edge(body)) run_copy(copy, moment);
  for (const Carried& pair : graph_.scope(body).carried) hand_over(pair.out, pair.in, moment);
}

void Walk::hand_over(TensorId from, TensorId to, Moment moment) {
  const Place* const source = facts_.input.places.valid(from);
  const Place* const target = facts_.input.places.valid(to);
  if (holder(from) == holder(to) || !source || !target || !lies_at(*source, *target, Bytes(0))) return;
  if (run_.is_absent(from)) return;
  const std::optional<Spot> spot = spot_of(target, graph_.tensor(to).size);
  if (!spot) return;
  ledger_.shared().read({from, holder(from), *spot}, moment);
  ledger_.hand_over(holder(from), holder(to), *spot, moment);
  ledger_.shared().write({to, holder(to), *spot}, moment);
}

// ------------------------------------------------------------------------------------------------------------- copies

std::optional<CopyIndex> Walk::copy_for(OpId id, TensorId tensor) const {
  for (const CopyIndex copy : facts_.copies.before(id)) {
    const CopyRole role = facts_.copies[copy].role;
    const bool instead = role == CopyRole::group_input || role == CopyRole::concat_part;
    if (instead && facts_.copies[copy].tensor == tensor) return copy;
  }
  return std::nullopt;
}

void Walk::run_copy(CopyIndex index, Moment moment) {
  const CopyEntry& copy = facts_.copies[index];
  if (copy.role == CopyRole::none) return;
  const TensorId source = facts_.copies.source(graph_, index);
  const std::optional<Spot> from = spot_of(facts_.input.places.valid(source), graph_.tensor(source).size);
  const std::optional<Spot> to = spot_of(&copy.to, graph_.tensor(copy.tensor).size);
  if (!to) return;
  // A runtime makes the copy even in a batch in which nobody writes the tensor: then of whatever is there.
  if (!run_.is_absent(source)) access_input(source, moment);
  ledger_.settle(moment);
  if (from && from->cell == to->cell && from->bytes.overlaps(to->bytes) && copy.role != CopyRole::split_part)
    conflicts_.bad_copy(index, "overlaps its source");
  if (copy.role == CopyRole::group_input) {
    ledger_.write_copy(index, moment);
  } else {
    ledger_.write(holder(copy.target), *to, moment);
    ledger_.shared().write({copy.target, holder(copy.target), *to}, moment);
  }
}

/// By op: whether it, or a copy before it, accesses memory.
std::vector<std::uint8_t> find_tasks(const Facts& facts) {
  const Graph& graph = facts.input.graph;
  std::vector<std::uint8_t> tasks(graph.ops().size());
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    tasks[k] = !graph.ops()[k].no_task || !facts.copies.before(OpId(k)).empty() ? 1 : 0;
  }
  return tasks;
}

/// The edges of the plan that lead forward in the root; `check_edges` reports the others.
std::vector<Edge> forward_edges(const Case& input) {
  const std::size_t root_ops = input.graph.scopes().front().op_count;
  std::vector<Edge> edges;
  std::copy_if(input.plan.edges.begin(), input.plan.edges.end(), std::back_inserter(edges),
               [&](Edge edge) { return edge.from < edge.to && edge.to.index() < root_ops; });
  return edges;
}

/// Every edge orders something that neither the graph alone nor an equal edge before it orders.
void check_edges_needed(const Facts& facts, std::span<const std::uint8_t> tasks, std::span<const std::string> batches,
                        Findings& findings) {
  const Graph& graph = facts.input.graph;
  const std::vector<Edge> edges = forward_edges(facts.input);
  if (edges.empty()) return;
  std::set<Edge> needed;
  for (const std::string& batch : batches) {
    const Order order({graph, {}, tasks, batch});
    for (const Edge& edge : edges) {
      if (!is_active(graph.op(edge.from), batch) || !is_active(graph.op(edge.to), batch)) continue;
      if (!order.happens_before(moment_of(edge.from, Phase::exit), moment_of(edge.to, Phase::before)))
        needed.insert(edge);
    }
  }
  for (const Edge& edge : edges) {
    const OpId ops[] = {edge.from, edge.to};
    if (std::any_of(std::begin(ops), std::end(ops), [&](OpId id) { return graph.op(id).no_task; })) continue;
    if (needed.erase(edge) > 0) continue;
    findings.add(Rule::edge,
                 "the edge from {} to {} is not needed: the plan has it twice, the graph alone orders the two, "
                 "or they never run together",
                 describe(graph, edge.from), describe(graph, edge.to));
  }
}

void check_clears_needed(const Facts& facts, const std::vector<bool>& met, Findings& findings) {
  for (std::uint32_t i = 0; i < facts.clears.size() && !findings.full(); ++i) {
    const ClearEntry& clear = facts.clears[i];
    if (!clear.exists || met[i]) continue;
    findings.add(Rule::fill, "clear {} of bytes {} of {} before {} is needed by nothing", i, describe(clear.bytes),
                 describe(facts.input.plan, clear.arena), describe_step(facts.input.graph, clear.before));
  }
}

}  // namespace

std::vector<std::vector<bool>> walk(const Facts& facts, const Links& links, std::size_t cells, Findings& findings) {
  const Graph& graph = facts.input.graph;
  const Provenance provenance(links);
  const Locals locals = find_locals(facts);
  const std::vector<std::uint8_t> tasks = find_tasks(facts);
  const std::vector<Edge> edges = forward_edges(facts.input);
  Conflicts conflicts(facts, findings);
  std::vector<std::string> batches(graph.batches().begin(), graph.batches().end());
  if (batches.empty()) batches.emplace_back();
  check_edges_needed(facts, tasks, batches, findings);
  std::vector<bool> met(facts.clears.size());
  std::vector<std::vector<bool>> met_by_batch;
  for (const std::string& batch : batches) {
    if (findings.full()) return met_by_batch;
    const Run run(facts.input, batch);
    const Order order({graph, edges, tasks, batch});
    Walk one(facts, locals, run, {facts, links, provenance, run, order, cells}, conflicts);
    one.run();
    met_by_batch.push_back(one.met_clears());
    std::transform(met.begin(), met.end(), one.met_clears().begin(), met.begin(), std::logical_or<>());
  }
  check_clears_needed(facts, met, findings);
  return met_by_batch;
}

}  // namespace stowage::verification
