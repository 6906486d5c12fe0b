#include "support/judges/shadow/shadow.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "support/judges/shadow/addresses.hpp"
#include "support/judges/shadow/groups.hpp"
#include "support/judges/shadow/hash.hpp"
#include "support/judges/shadow/journal.hpp"
#include "support/judges/shadow/layout.hpp"
#include "support/judges/shadow/reference.hpp"
#include "support/judges/shadow/schedule.hpp"

namespace stowage::testing {
namespace {

/// An op between its start and its finish.
struct Running {
  std::uint64_t key = 0;    ///< Of everything that the op depends on as a whole.
  std::uint64_t time = 0;   ///< No two executions have the same.
  std::size_t started = 0;  ///< The event.
  bool saw_wrong_input = false;
};

bool pairs_input(const Op& op, std::size_t input) {
  return std::any_of(op.in_place.begin(), op.in_place.end(),
                     [&](const InPlacePair& pair) { return pair.input == input; });
}

bool contains(const std::vector<std::uint32_t>& list, std::size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class Shadow {
 public:
  Shadow(const Graph& graph, const ShadowOptions& options, Reference reference, Layout layout, const Plan* plan)
      : graph_(graph),
        options_(options),
        plan_(plan),
        planned_(std::move(layout)),
        reference_(std::move(reference)),
        addresses_(options.seed, options.base),
        journal_(options.granularity, options.max_findings),
        running_(graph.ops().size()) {
    for (const Op& op : graph.ops()) packed_.push_back(is_concat(graph, op) || is_split(graph, op));
  }

  [[nodiscard]] ShadowReport run() {
    for (std::size_t run = 0; run < options_.runs && !journal_.full(); ++run) run_once(run);
    return std::move(journal_.report);
  }

 private:
  void run_once(std::size_t run) {
    begin_run(run);
    const std::uint64_t seed = run == 0 ? options_.seed : mix(mix(options_.seed, 7), run);
    RunChoice choice{.seed = seed};
    if (plan_ != nullptr) choice.edges = plan_->edges;
    if (!graph_.batches().empty()) choice.batch = graph_.batches()[mix(seed, 8) % graph_.batches().size()];
    const bool random = options_.order == ShadowOptions::Order::random;
    for (const Event& event : random ? random_schedule(graph_, choice) : linear_schedule(graph_, choice)) {
      if (journal_.full()) break;
      handle(event);
      journal_.next_event();
    }
    check_end();
  }

  void handle(const Event& event) {
    switch (event.phase) {
      case Event::Phase::start:
        return start(event.op);
      case Event::Phase::finish:
        return finish(event.op);
      case Event::Phase::enter:
        return enter(event.scope);
      case Event::Phase::leave:
        return leave(event.scope);
    }
  }

  // ------------------------------------------------------------------------------------------------- before and after
  void begin_run(std::size_t run) {
    journal_.begin_run();
    run_ = run;
    reference_.begin_run();
    if (plan_ != nullptr) {
      addresses_.begin_run(planned_, run);
      addresses_.check(*plan_, planned_, journal_.report.findings);
    }
    if (run == 0) write_own_addresses();
    std::vector<TensorId> inputs = flagged(TensorFlag::input);
    std::erase_if(inputs, [&](TensorId id) { return reference_.flags(id).has(TensorFlag::constant); });
    for (const TensorId input : inputs) write_by_caller(input, "the caller's input");
    for (const PlannedClear& clear : planned_.first_clears) do_clear(clear, "the clear at the start");
    for (const TensorId input : inputs) check(input, "before the first op");
  }

  /// Variables and externals hold a value from before the first run, and so do constants that are more than a number.
  void write_own_addresses() {
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      const bool touched = !site(TensorId(i)).bytes.empty();
      if (!touched || graph_.tensors()[i].view_of || !reference_.flags(TensorId(i)).any_of(kOwnAddress)) continue;
      write_by_caller(TensorId(i), "the initial value");
    }
  }

  void check_end() {
    if (options_.keep_inputs) {
      for (const TensorId input : flagged(TensorFlag::input)) check(input, "after the last op, as a kept input");
    }
    for (const TensorId output : flagged(TensorFlag::output)) check(output, "after the last op, as an output");
    for (const TensorId variable : flagged(TensorFlag::variable)) check(variable, "after the last op, as a variable");
    for (const TensorId alone : flagged(TensorFlag::no_reuse)) {
      if (!passes_by_value(alone)) check(alone, "after the last op, as one without reuse");
    }
    for (const auto& [workspace, key] : sessions_) check_session(workspace.first, workspace.second, key);
  }

  /// Other values share its bytes because the graph demands it: those of a packed group, or of a loop.
  [[nodiscard]] bool passes_by_value(TensorId tensor) const {
    const std::size_t family = reference_.family(tensor);
    if (reference_.families().families[family].home != ScopeId(0)) return true;
    const auto is_member = [&](const std::optional<TensorId>& each) {
      return each && reference_.family(*each) == family;
    };
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      if (!packed_[k] && op.control == Control::none) continue;
      if (std::any_of(op.inputs.begin(), op.inputs.end(), is_member)) return true;
      if (std::any_of(op.outputs.begin(), op.outputs.end(), is_member)) return true;
    }
    return false;
  }

  void write_by_caller(TensorId tensor, const std::string& what) {
    const std::uint64_t key = mix(mix(mix(options_.seed, 1), tensor.index()), run_);
    fill(reference_.bytes(tensor), key);
    fill(site(tensor).bytes, key);
    journal_.log(site(tensor).bytes, what + " of " + name(tensor));
    reference_.mark_written(tensor);
  }

  [[nodiscard]] std::vector<TensorId> flagged(TensorFlag flag) const {
    std::vector<TensorId> result;
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (graph_.tensors()[i].flags.has(flag)) result.push_back(TensorId(i));
    }
    return result;
  }

  // -------------------------------------------------------------------------------------------------------------- ops
  void start(OpId id) {
    const Op& op = graph_.op(id);
    ++journal_.report.ops;
    Running& state = running_[id.index()];
    state = {.time = ++time_, .started = journal_.event()};
    check_addresses(id);
    // An op with bodies reads its own inputs where they lie; copies are for the body.
    if (op.control != Control::none) state.saw_wrong_input = !check_inputs(id);
    for (const PlannedClear& clear : planned_.clears[id.index()]) do_clear(clear, "the clear before " + name(id));
    for (const PlannedCopy& copy : planned_.copies[id.index()]) do_copy(copy, "before " + name(id));
    start_workspaces(id);
    if (op.control == Control::loop) enter_loop(graph_.scope(graph_.bodies(id).front()));
    if (op.control != Control::none) return;
    for (std::size_t i = 0; i < op.outputs.size() && !packed_[id.index()]; ++i) start_output(id, i);
    check_filled_outputs(id);
    state.saw_wrong_input = !check_inputs(id);
    state.key = mix(mix(mix(options_.seed, 2), id.index()), state.time);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] && !pairs_input(op, i))
        state.key = mix(state.key, reference_.hash_of(*op.inputs[i], options_.seed));
    }
  }

  void finish(OpId id) {
    const Op& op = graph_.op(id);
    Running& state = running_[id.index()];
    const bool others_ran = journal_.event() != state.started + 1;
    if (op.control == Control::loop) leave_loop(graph_.scope(graph_.bodies(id).front()));
    if (op.control == Control::none) {
      if (others_ran) check_filled_outputs(id);
      if (others_ran && !state.saw_wrong_input) state.saw_wrong_input = !check_inputs(id);
      packed_[id.index()] ? move_packed(op) : write_outputs(id);
    }
    for (const TensorId output : op.outputs) check(output, "written by " + name(id));
    for (std::size_t i = 0; i < op.workspaces.size(); ++i) finish_workspace(id, i);
    if (op.control == Control::none && !state.saw_wrong_input) check_surviving_inputs(id);
  }

  void check_addresses(OpId id) {
    const OpSites& sites = planned_.ops[id.index()];
    for (std::size_t i = 0; i < sites.inputs.size(); ++i) check_address(id, "input ", i, sites.inputs[i]);
    for (std::size_t i = 0; i < sites.outputs.size(); ++i) check_address(id, "output ", i, sites.outputs[i]);
    for (std::size_t i = 0; i < sites.workspaces.size(); ++i) check_address(id, "workspace ", i, sites.workspaces[i]);
  }

  void check_address(OpId id, const char* list, std::size_t position, const Site& operand) {
    if (operand.extent.count == 0) return;
    const std::uint64_t address = addresses_.of(operand);
    const auto who = [&] { return list + std::to_string(position) + " of " + name(id); };
    if (address % static_cast<std::uint64_t>(operand.alignment.value()) != 0) journal_.find(who() + " is not aligned");
    if (!graph_.op(id).fixed_address) return;
    const auto [known, first] = fixed_.try_emplace(who(), address);
    if (!first && known->second != address) journal_.find(who() + ", which needs a fixed address, has moved");
  }

  bool check_inputs(OpId id) {
    const Op& op = graph_.op(id);
    bool right = true;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] && !check(*op.inputs[i], planned_.ops[id.index()].inputs[i], "read by " + name(id)))
        right = false;
    }
    return right;
  }

  // ------------------------------------------------------------------------------------------------ what an op writes
  /// Destroys what the output's bytes held, except for what the op may rightly find there.
  void start_output(OpId id, std::size_t output) {
    const Op& op = graph_.op(id);
    const OpSites& sites = planned_.ops[id.index()];
    if (contains(op.zero_fill.outputs, output)) {
      std::ranges::fill(reference_.bytes(op.outputs[output]), std::byte{op.zero_fill.value});
      reference_.mark_written(op.outputs[output]);
      return;
    }
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input && reference_.family(*input) == reference_.family(op.outputs[output])) return;
    }
    std::span<std::byte> bytes = sites.outputs[output].bytes;
    std::size_t in_place = 0;
    for (const InPlacePair& pair : op.in_place) {
      if (pair.output != output || !op.inputs[pair.input]) continue;
      const std::span<const std::byte> input = sites.inputs[pair.input].bytes;
      if (input.data() == bytes.data()) in_place = std::max(in_place, input.size());
    }
    bytes = bytes.subspan(std::min(bytes.size(), in_place));
    std::fill(bytes.begin(), bytes.end(), kPoison);
    journal_.log(bytes, "the start of " + name(id) + ", for output " + name(op.outputs[output]));
  }

  void check_filled_outputs(OpId id) {
    const Op& op = graph_.op(id);
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const Site& filled = planned_.ops[id.index()].outputs[output];
      const std::byte value{op.zero_fill.value};
      if (journal_.compare_value(filled.bytes, value, name(op.outputs[output]) + ", written by " + name(id) + ","))
        continue;
      std::ranges::fill(filled.bytes, value);
    }
  }

  void write_outputs(OpId id) {
    const Op& op = graph_.op(id);
    const OpSites& sites = planned_.ops[id.index()];
    std::vector<std::span<std::byte>> reference_inputs;
    std::vector<std::span<std::byte>> reference_outputs;
    for (const auto& input : op.inputs)
      reference_inputs.push_back(input ? reference_.bytes(*input) : std::span<std::byte>{});
    for (const TensorId output : op.outputs) reference_outputs.push_back(reference_.bytes(output));
    write_outputs(id, reference_inputs, reference_outputs);
    std::vector<std::span<std::byte>> inputs;
    std::vector<std::span<std::byte>> outputs;
    for (const Site& each : sites.inputs) inputs.push_back(each.bytes);
    for (const Site& each : sites.outputs) outputs.push_back(each.bytes);
    // After a wrong input the correct outputs are written, so that each finding is a cause and not a consequence of
    // another.
    const bool wrong = running_[id.index()].saw_wrong_input;
    if (!wrong) write_outputs(id, inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (wrong) std::ranges::copy(reference_outputs[i], outputs[i].begin());
      journal_.log(outputs[i], "output " + name(op.outputs[i]) + " of " + name(id));
      reference_.mark_written(op.outputs[i]);
    }
  }

  void write_outputs(OpId id, std::span<const std::span<std::byte>> from, std::span<const std::span<std::byte>> to) {
    const Op& op = graph_.op(id);
    std::vector<std::vector<std::byte>> masks(op.inputs.size());
    std::vector<Operand> inputs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i] || !pairs_input(op, i)) continue;
      masks[i] = reference_.mask(*op.inputs[i]);
      inputs.push_back({from[i], masks[i]});
    }
    // "Element by element" does not define an order of elements.
    const bool backward = mix(mix(options_.seed, 3), id.index()) % 2 == 1;
    write_elementwise(inputs, to, running_[id.index()].key, backward ? Direction::backward : Direction::forward);
  }

  /// Inputs without an in-place pair with an output must stay intact while the op writes that output.
  void check_surviving_inputs(OpId id) {
    const Op& op = graph_.op(id);
    const OpSites& sites = planned_.ops[id.index()];
    for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i]) continue;
      bool met = false;
      for (std::uint32_t o = 0; o < op.outputs.size(); ++o) {
        const bool paired = std::count(op.in_place.begin(), op.in_place.end(), InPlacePair{o, i}) > 0;
        met = met || (!paired && overlap(sites.outputs[o].bytes, sites.inputs[i].bytes));
      }
      if (met) check(*op.inputs[i], sites.inputs[i], "overwritten while read by " + name(id));
    }
  }

  /// A concat or split: values move in the reference only.
  void move_packed(const Op& op) {
    const auto cells = [&](Bytes bytes) {
      return static_cast<std::size_t>(bytes.value() / options_.granularity.value());
    };
    if (is_concat(graph_, op)) {
      for (const GroupMember& member : input_members(graph_, op))
        reference_.put(op.outputs.front(), cells(member.offset), reference_.take(member.tensor));
    } else {
      const auto whole =
          std::find_if(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return input.has_value(); });
      for (const GroupMember& member : output_members(graph_, op)) {
        const std::size_t count = reference_.bytes(member.tensor).size();
        reference_.put(member.tensor, 0, reference_.take(**whole, cells(member.offset), count));
      }
    }
  }

  // ------------------------------------------------------------------------------------------------------- workspaces
  void start_workspaces(OpId id) {
    const Op& op = graph_.op(id);
    for (std::size_t i = 0; i < op.workspaces.size(); ++i) {
      const std::span<std::byte> bytes = workspace(id, i);
      const bool filled = contains(op.zero_fill.workspaces, i);
      const auto kept = sessions_.find({id, i});
      if (filled) {
        journal_.compare_value(bytes, std::byte{op.zero_fill.value}, workspace_name(id, i));
      } else if (kept != sessions_.end()) {
        check_session(id, i, kept->second);
      }
      fill(bytes, workspace_key(id, i));
      journal_.log(bytes, workspace_name(id, i));
      if (op.workspaces[i].scope == WorkspaceScope::session && !filled) sessions_[{id, i}] = workspace_key(id, i);
    }
  }

  void finish_workspace(OpId id, std::size_t index) {
    journal_.compare_pattern(workspace(id, index), workspace_key(id, index), workspace_name(id, index));
  }

  void check_session(OpId id, std::size_t index, std::uint64_t key) {
    journal_.compare_pattern(workspace(id, index), key, "session " + workspace_name(id, index));
  }

  // ------------------------------------------------------------------------------------------------- loops and bodies
  void enter_loop(const Scope& scope) {
    for (const BodyInput& pair : scope.inputs) {
      const bool carried = std::any_of(scope.carried.begin(), scope.carried.end(),
                                       [&](const Carried& each) { return each.in == pair.inner; });
      if (carried) reference_.put(pair.inner, 0, reference_.take(pair.outer));
    }
  }

  /// Values inside the body are lost, except for those that the loop carries.
  void enter(ScopeId id) {
    std::vector<std::pair<TensorId, Reference::Value>> carried;
    for (const Carried& pair : graph_.scope(id).carried) carried.emplace_back(pair.in, reference_.take(pair.in));
    reference_.forget(id);
    for (const auto& [in, value] : carried) reference_.put(in, 0, value);
  }

  void leave_loop(const Scope& scope) {
    for (const BodyOutput& pair : scope.outputs) {
      // One that is carried to two places is the result of the first.
      const auto carried = std::find_if(scope.carried.begin(), scope.carried.end(),
                                        [&](const Carried& each) { return each.out == pair.inner; });
      reference_.put(pair.outer, 0, reference_.take(carried == scope.carried.end() ? pair.inner : carried->in));
    }
  }

  void leave(ScopeId id) {
    const Scope& scope = graph_.scope(id);
    const std::string when = "at the end of body " + std::to_string(scope.body) + " of " + name(scope.op);
    for (const PlannedCopy& copy : planned_.end_copies[id.index()]) do_copy(copy, when);
    std::vector<std::pair<TensorId, Reference::Value>> moved;
    if (graph_.op(scope.op).control == Control::loop) {
      for (const Carried& pair : scope.carried) moved.emplace_back(pair.in, reference_.take(pair.out));
    } else {
      for (const BodyOutput& pair : scope.outputs) moved.emplace_back(pair.outer, reference_.take(pair.inner));
    }
    for (const auto& [to, value] : moved) reference_.put(to, 0, value);
  }

  // ----------------------------------------------------------------------------------------- what the plan says to do
  void do_clear(const PlannedClear& clear, const std::string& what) {
    std::ranges::fill(clear.to.bytes, std::byte{clear.value});
    journal_.log(clear.to.bytes, what);
  }

  void do_copy(const PlannedCopy& copy, const std::string& when) {
    if (reference_.is_absent(copy.source)) return;
    // The part of a split's input is not a tensor; the op that reads it reports the error.
    if (copy.source == copy.tensor) check(copy.tensor, copy.from, "copied " + when);
    ++journal_.report.copies;
    const std::vector<std::byte> bytes(copy.from.bytes.begin(), copy.from.bytes.end());
    std::ranges::copy(bytes, copy.to.bytes.begin());
    journal_.log(copy.to.bytes, "the copy of " + name(copy.tensor) + " " + when);
  }

  // ---------------------------------------------------------------------------------------------------------- tensors
  [[nodiscard]] const Site& site(TensorId tensor) const { return planned_.tensors[tensor.index()]; }

  /// Compares a tensor with the reference. `when` completes "tensor 'x', …".
  bool check(TensorId tensor, const Site& where, const std::string& when) {
    if (where.bytes.empty()) return true;
    const std::vector<std::byte> mask = reference_.mask(tensor);
    return journal_.compare({where.bytes, mask}, {reference_.bytes(tensor), mask}, name(tensor) + ", " + when);
  }
  bool check(TensorId tensor, const std::string& when) { return check(tensor, site(tensor), when); }

  [[nodiscard]] std::span<std::byte> workspace(OpId op, std::size_t index) const {
    return planned_.ops[op.index()].workspaces[index].bytes;
  }
  [[nodiscard]] std::uint64_t workspace_key(OpId op, std::size_t index) const {
    return mix(mix(mix(mix(options_.seed, 5), op.index()), index), running_[op.index()].time);
  }
  [[nodiscard]] std::string name(TensorId id) const { return describe(graph_.tensor(id), id); }
  [[nodiscard]] std::string name(OpId id) const { return describe(graph_.op(id), id); }
  [[nodiscard]] std::string workspace_name(OpId op, std::size_t index) const {
    return "workspace " + std::to_string(index) + " of " + name(op);
  }

  const Graph& graph_;
  const ShadowOptions& options_;
  const Plan* plan_;  ///< None for memory of the host.
  Layout planned_;
  Reference reference_;
  Addresses addresses_;
  Journal journal_;
  std::vector<bool> packed_;      ///< By op.
  std::vector<Running> running_;  ///< By op.
  /// The patterns that session workspaces hold.
  std::map<std::pair<OpId, std::size_t>, std::uint64_t> sessions_;
  std::map<std::string, std::uint64_t> fixed_;  ///< Addresses that may not change.
  std::size_t run_ = 0;
  std::uint64_t time_ = 0;
};

std::vector<Site> sites_of(const std::vector<std::span<std::byte>>& spans) {
  std::vector<Site> sites;
  for (const std::span<std::byte> bytes : spans) sites.push_back({.extent = {0, 0, bytes.size()}, .bytes = bytes});
  return sites;
}

}  // namespace

ShadowReport shadow_execute(const Graph& graph, const Plan& plan, const ShadowOptions& options) {
  Reference reference(graph, options.granularity);
  ShadowReport refused;
  Layout layout = planned_layout(graph, plan, reference.families(), options.granularity, refused.findings);
  if (!refused.findings.empty()) return refused;
  return Shadow(graph, options, std::move(reference), std::move(layout), &plan).run();
}

ShadowReport shadow_execute(const Graph& graph, HostMemory memory, const ShadowOptions& options) {
  STOWAGE_CHECK(options.granularity == Bytes(1), "real memory has no scale");
  STOWAGE_CHECK(!constants_have_bytes(graph), "groups and bodies need a plan");
  std::vector<std::vector<Site>> workspaces;
  for (const std::vector<std::span<std::byte>>& of_op : memory.workspaces) workspaces.push_back(sites_of(of_op));
  Layout layout = plain_layout(graph, sites_of(memory.tensors), std::move(workspaces));
  return Shadow(graph, options, Reference(graph, Bytes(1)), std::move(layout), nullptr).run();
}

}  // namespace stowage::testing
