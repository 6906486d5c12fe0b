#include "verify/walk.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "verify/ledger.hpp"
#include "verify/provenance.hpp"
#include "verify/run.hpp"

namespace stowage::verification {
namespace {

/// By scope: the values that begin again when it is entered.
using Locals = std::vector<std::vector<HolderId>>;

Locals find_locals(const Facts& facts) {
  Locals locals(facts.input.graph.scopes().size());
  if (locals.size() == 1) return locals;
  for (HolderId value = 0; value < facts.input.values.size(); ++value) {
    const std::size_t home = facts.input.values[ValueId(value)].home.index();
    if (home > 0) locals[home].push_back(value);
  }
  return locals;
}

/// One run of the program.
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

  void go() {
    start();
    for (const std::uint32_t clear : facts_.clears.at_start()) ledger_.clear(clear, {0, Phase::before});
    walk_scope(ScopeId(0));
    for (HolderId value = 0; value < values_.size() && !conflicts_.full(); ++value) {
      if (is_kept(value)) ledger_.require_at_end(value);
    }
  }

 private:
  void start();
  void walk_scope(ScopeId scope);
  void walk_op(OpId id);
  void run_op(OpId id);
  void check_fills(OpId id);

  void run_bodies(OpId id);
  void run_branch(OpId id);
  void run_loop(OpId id);
  /// Walks the body from the current state. Returns the changes, and restores the current state.
  Delta run_body(OpId id, ScopeId body);
  void end_body(OpId id, ScopeId body);
  void end_iteration(ScopeId body, Moment moment);

  void run_copy(std::uint32_t index, Moment moment);
  void hand_over(TensorId from, TensorId to, Moment moment);

  [[nodiscard]] bool is_kept(HolderId value) const {
    const Value& of = values_[ValueId(value)];
    return of.flags.has(TensorFlag::output) || (of.flags.has(TensorFlag::input) && facts_.input.options.keep_inputs);
  }
  [[nodiscard]] HolderId holder(TensorId tensor) const { return static_cast<HolderId>(values_.of(tensor).index()); }
  [[nodiscard]] HolderId holder(OpId op, std::size_t w) const {
    return static_cast<HolderId>(values_.of(op, w).index());
  }
  [[nodiscard]] std::optional<Spot> spot_of(const Place* place, Bytes size) const;
  /// The copy that the op reads instead of the tensor, if there is one.
  [[nodiscard]] std::optional<std::uint32_t> copy_for(OpId id, TensorId tensor) const;

  const Facts& facts_;
  const Graph& graph_;
  const Values& values_;
  const Locals& locals_;
  const Run& run_;
  Conflicts& conflicts_;
  Ledger ledger_;
};

void Walk::start() {
  for (HolderId value = 0; value < values_.size(); ++value) {
    const Value& of = values_[ValueId(value)];
    if (!of.in_use()) continue;
    const bool caller = of.flags.any_of({TensorFlag::input, TensorFlag::output});
    const bool alone = of.flags.has(TensorFlag::no_reuse) && (caller || run_.accesses(value));
    if (of.persistent() || of.session || alone) ledger_.reserve(value);
  }
  for (HolderId value = 0; value < values_.size(); ++value) {
    const Value& of = values_[ValueId(value)];
    const bool input = of.flags.has(TensorFlag::input);
    if (!of.in_use() || !(input || (of.flags.has(TensorFlag::output) && !of.accessed))) continue;
    ledger_.begin_at_start(value);
    if (input && !run_.accesses(value) && facts_.claims.has_any(value))
      ledger_.state().touch(value, {run_.first_task(), Phase::run});
  }
}

void Walk::walk_scope(ScopeId id) {
  const Scope& scope = graph_.scope(id);
  for (std::size_t i = 0; i < scope.op_count && !conflicts_.full(); ++i) walk_op(OpId(scope.first_op.index() + i));
}

void Walk::walk_op(OpId id) {
  if (!run_.is_active(id)) return;
  const auto op = static_cast<std::uint32_t>(id.index());
  for (const std::uint32_t clear : facts_.clears.before(op)) ledger_.clear(clear, {op, Phase::before});
  for (const std::uint32_t copy : facts_.copies.before(id)) run_copy(copy, {op, Phase::before});
  if (graph_.op(id).no_task) return;
  if (graph_.op(id).control == Control::none) {
    run_op(id);
  } else {
    run_bodies(id);
  }
}

void Walk::run_op(OpId id) {
  const Op& op = graph_.op(id);
  const Moment now{static_cast<std::uint32_t>(id.index()), Phase::run};
  for (const std::optional<TensorId>& input : op.inputs) {
    if (!input || run_.is_absent(*input)) continue;
    const std::optional<std::uint32_t> copy = copy_for(id, *input);
    if (!copy) {
      ledger_.access(holder(*input), now);
    } else if (facts_.copies[*copy].role == CopyRole::group_input) {
      ledger_.access(facts_.claims.of_copy(*copy), now);
    }
  }
  if (!op.zero_fill.empty()) check_fills(id);
  for (const TensorId output : op.outputs) ledger_.access(holder(output), now);
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) ledger_.access(holder(id, w), now);
  ledger_.settle(now);
}

std::optional<std::uint32_t> Walk::copy_for(OpId id, TensorId tensor) const {
  for (const std::uint32_t copy : facts_.copies.before(id)) {
    const CopyRole role = facts_.copies[copy].role;
    const bool instead = role == CopyRole::group_input || role == CopyRole::concat_part;
    if (instead && facts_.copies[copy].tensor == tensor) return copy;
  }
  return std::nullopt;
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

// ------------------------------------------------------------------------------------------------------------- bodies

void Walk::run_bodies(OpId id) {
  const Op& op = graph_.op(id);
  const auto index = static_cast<std::uint32_t>(id.index());
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input && !run_.is_absent(*input)) ledger_.access(holder(*input), {index, Phase::run});
  }
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) ledger_.access(holder(id, w), {index, Phase::run});
  ledger_.settle({index, Phase::run});
  if (op.control == Control::loop) {
    run_loop(id);
  } else {
    run_branch(id);
  }
  for (const TensorId output : op.outputs) ledger_.access(holder(output), {index, Phase::exit});
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) ledger_.access(holder(id, w), {index, Phase::exit});
  ledger_.settle({index, Phase::exit});
}

void Walk::run_branch(OpId id) {
  std::vector<Delta> ends;
  for (const ScopeId body : graph_.bodies(id)) ends.push_back(run_body(id, body));
  ledger_.state().join(ends);
}

void Walk::run_loop(OpId id) {
  const ScopeId body = graph_.bodies(id).front();
  const Moment entered{static_cast<std::uint32_t>(id.index()), Phase::inside};
  const Scope& scope = graph_.scope(body);
  for (const BodyInput& pair : scope.inputs) {
    if (is_carried(scope, pair.inner)) hand_over(pair.outer, pair.inner, entered);
  }
  const bool quiet = conflicts_.is_quiet();
  conflicts_.set_quiet(true);
  const std::vector<Delta> before_iteration = {Delta{}, run_body(id, body)};
  conflicts_.set_quiet(quiet);
  ledger_.state().join(before_iteration);
  if (!quiet) run_body(id, body);
}

Delta Walk::run_body(OpId id, ScopeId body) {
  ledger_.state().enter();
  for (const HolderId value : locals_[body.index()]) ledger_.state().forget(value);
  walk_scope(body);
  end_body(id, body);
  return ledger_.state().leave();
}

void Walk::end_body(OpId id, ScopeId body) {
  const Moment now{static_cast<std::uint32_t>(id.index()), Phase::inside};
  const Scope& scope = graph_.scope(body);
  ledger_.state().fold(static_cast<std::uint32_t>(body.index()), now);
  if (graph_.op(id).control == Control::loop) {
    end_iteration(body, now);
    return;
  }
  for (const std::uint32_t copy : facts_.copies.at_end(body)) run_copy(copy, now);
  for (const BodyOutput& pair : scope.outputs) hand_over(pair.inner, pair.outer, now);
}

void Walk::end_iteration(ScopeId body, Moment moment) {
  std::vector<HolderId> written;
  for (const std::uint32_t copy : facts_.copies.at_back_edge(body)) {
    if (facts_.copies[copy].role != CopyRole::back_edge) continue;
    const HolderId source = holder(facts_.copies[copy].tensor);
    if (std::find(written.begin(), written.end(), source) != written.end())
      conflicts_.bad_copy(copy,
                          "runs after another copy has overwritten its source with a value for the next iteration");
    written.push_back(holder(facts_.copies[copy].target));
    run_copy(copy, moment);
  }
  for (const Carried& pair : graph_.scope(body).carried) hand_over(pair.out, pair.in, moment);
}

/// Hands the value over if the plan has both tensors at one place; otherwise a copy does it.
void Walk::hand_over(TensorId from, TensorId to, Moment moment) {
  const Place* const source = facts_.input.places.valid(from);
  const Place* const target = facts_.input.places.valid(to);
  if (holder(from) == holder(to) || !source || !target || !lies_at(*source, *target, Bytes(0))) return;
  if (run_.is_absent(from)) return;
  const std::optional<Spot> spot = spot_of(target, graph_.tensor(to).size);
  if (spot) ledger_.hand_over(holder(from), holder(to), *spot, moment);
}

// ------------------------------------------------------------------------------------------------------------- copies

void Walk::run_copy(std::uint32_t index, Moment moment) {
  const CopyEntry& copy = facts_.copies[index];
  if (copy.role == CopyRole::none) return;
  TensorId source = copy.tensor;
  if (copy.role == CopyRole::split_part) {
    const Op& op = graph_.op(OpId(moment.op));
    source = **std::find_if(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return input.has_value(); });
  }
  if (run_.is_absent(source)) return;
  const std::optional<Spot> from = spot_of(facts_.input.places.valid(source), graph_.tensor(source).size);
  const std::optional<Spot> to = spot_of(&copy.to, graph_.tensor(copy.tensor).size);
  if (!to) return;
  ledger_.access(holder(source), moment);
  ledger_.settle(moment);
  if (from && from->cell == to->cell && from->bytes.overlaps(to->bytes) && copy.role != CopyRole::split_part)
    conflicts_.bad_copy(index, "overlaps its source");
  if (copy.role == CopyRole::group_input) {
    ledger_.write_copy(index, moment);
  } else {
    ledger_.write(holder(copy.target), *to, moment);
  }
}

}  // namespace

void walk(const Facts& facts, const Links& links, std::size_t cells, Findings& findings) {
  const Graph& graph = facts.input.graph;
  const Provenance provenance(links);
  const Locals locals = find_locals(facts);
  std::vector<std::uint8_t> tasks(graph.ops().size());
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    tasks[k] = !graph.ops()[k].no_task || !facts.copies.before(OpId(k)).empty() ? 1 : 0;
  }
  std::vector<Edge> edges;
  const std::size_t count = graph.scopes().front().op_count;
  std::copy_if(facts.input.plan.edges.begin(), facts.input.plan.edges.end(), std::back_inserter(edges),
               [&](Edge edge) { return edge.from < edge.to && edge.to.index() < count; });
  Conflicts conflicts(facts, findings);
  std::vector<std::string> batches(graph.batches().begin(), graph.batches().end());
  if (batches.empty()) batches.emplace_back();
  for (const std::string& batch : batches) {
    if (findings.full()) return;
    const Run run(facts, batch);
    const Order order({graph, edges, tasks, batch});
    Walk(facts, locals, run, {facts, links, provenance, run, order, cells}, conflicts).go();
  }
}

}  // namespace stowage::verification
