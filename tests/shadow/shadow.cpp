#include "shadow/shadow.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "shadow/families.hpp"
#include "shadow/hash.hpp"
#include "shadow/memory.hpp"
#include "shadow/schedule.hpp"

namespace stowage::testing {
namespace {

/// What the plan's memory was last written for, to say who destroyed a value.
struct Write {
  std::span<const std::byte> bytes;
  std::string what;
};

/// An op between its start and its finish.
struct Running {
  std::uint64_t key = 0;    ///< Of everything that the op depends on as a whole.
  std::size_t started = 0;  ///< The event.
  bool saw_wrong_input = false;
};

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::less<const std::byte*> less;
  return !a.empty() && !b.empty() && less(a.data(), b.data() + b.size()) && less(b.data(), a.data() + a.size());
}

bool pairs_input(const Op& op, std::size_t input) {
  return std::any_of(op.in_place.begin(), op.in_place.end(), [&](const InPlacePair& pair) { return pair.input == input; });
}

std::string hex(std::byte value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto number = std::to_integer<std::size_t>(value);
  return std::string("0x") + kDigits[number / 16] + kDigits[number % 16];
}

class Shadow {
 public:
  Shadow(const Graph& graph, const ShadowOptions& options, Families families, RunMemory planned)
      : graph_(graph),
        options_(options),
        families_(std::move(families)),
        planned_(std::move(planned)),
        reference_(reference_memory(families_)),
        written_(families_.families.size()),
        running_(graph.ops().size()) {}

  [[nodiscard]] ShadowReport run() {
    write_own_addresses();
    write_inputs();
    const bool random = options_.order == ShadowOptions::Order::random;
    const std::vector<Event> events = random ? random_schedule(graph_, options_.seed) : linear_schedule(graph_);
    for (const Event& event : events) {
      if (full()) break;
      event.phase == Event::Phase::start ? start(event.op) : finish(event.op);
      ++event_;
    }
    check_end();
    return std::move(report_);
  }

 private:
  // ------------------------------------------------------------------------------------------------- before and after
  /// Variables and externals hold a value from before the run.
  void write_own_addresses() {
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (graph_.tensors()[i].view_of) continue;
      const Family& family = families_.families[families_.seats[i].family];
      if (family.flags.any_of({TensorFlag::variable, TensorFlag::external})) write_by_caller(TensorId(i), "the initial value");
    }
  }

  void write_inputs() {
    for (const TensorId input : flagged(TensorFlag::input)) write_by_caller(input, "the caller's input");
    for (const TensorId input : flagged(TensorFlag::input)) check(input, "before the first op");
  }

  void check_end() {
    if (options_.keep_inputs) {
      for (const TensorId input : flagged(TensorFlag::input)) check(input, "after the last op, as a kept input");
    }
    for (const TensorId output : flagged(TensorFlag::output)) check(output, "after the last op, as an output");
    for (const TensorId variable : flagged(TensorFlag::variable)) check(variable, "after the last op, as a variable");
  }

  void write_by_caller(TensorId tensor, const std::string& what) {
    const std::uint64_t key = mix(mix(options_.seed, 1), tensor.index());
    fill(reference_.tensors[tensor.index()], key);
    fill(planned_.tensors[tensor.index()], key);
    log(planned_.tensors[tensor.index()], what + " of " + name(tensor));
    mark_written(tensor);
  }

  [[nodiscard]] std::vector<TensorId> flagged(TensorFlag flag) const {
    std::vector<TensorId> result;
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (graph_.tensors()[i].flags.has(flag)) result.push_back(TensorId(i));
    }
    return result;
  }

  // --------------------------------------------------------------------------------------------------------------- ops
  void start(OpId id) {
    const Op& op = graph_.op(id);
    ++report_.ops;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) poison(id, i);
    for (std::size_t i = 0; i < op.workspaces.size(); ++i) {
      fill(planned_.workspaces[id.index()][i], workspace_key(id, i));
      log(planned_.workspaces[id.index()][i], workspace_name(id, i));
    }
    Running& state = running_[id.index()];
    state.started = event_;
    state.saw_wrong_input = !check_inputs(id);
    state.key = mix(mix(options_.seed, 2), id.index());
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] && !pairs_input(op, i)) state.key = mix(state.key, hash_of(*op.inputs[i]));
    }
  }

  void finish(OpId id) {
    Running& state = running_[id.index()];
    const bool others_ran = event_ != state.started + 1;
    if (others_ran && !state.saw_wrong_input) state.saw_wrong_input = !check_inputs(id);
    write_outputs(id);
    const Op& op = graph_.op(id);
    for (const TensorId output : op.outputs) check(output, "written by " + name(id));
    for (std::size_t i = 0; i < op.workspaces.size(); ++i) check_workspace(id, i);
    if (!state.saw_wrong_input) check_surviving_inputs(id);
  }

  /// Destroys what the output's bytes held, but for what the op may rightly find there.
  void poison(OpId id, std::size_t output) {
    const Op& op = graph_.op(id);
    std::span<std::byte> bytes = planned_.tensors[op.outputs[output].index()];
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input && family(*input) == family(op.outputs[output])) return;
    }
    std::size_t in_place = 0;
    for (const InPlacePair& pair : op.in_place) {
      if (pair.output != output || !op.inputs[pair.input]) continue;
      const std::span<const std::byte> input = planned_.tensors[op.inputs[pair.input]->index()];
      if (input.data() == bytes.data()) in_place = std::max(in_place, input.size());
    }
    bytes = bytes.subspan(std::min(bytes.size(), in_place));
    std::fill(bytes.begin(), bytes.end(), kPoison);
    log(bytes, "the start of " + name(id) + ", for output " + name(op.outputs[output]));
  }

  bool check_inputs(OpId id) {
    bool right = true;
    for (const std::optional<TensorId>& input : graph_.op(id).inputs) {
      if (input && !check(*input, "read by " + name(id))) right = false;
    }
    return right;
  }

  void write_outputs(OpId id) {
    const Op& op = graph_.op(id);
    write_outputs(reference_, id);
    // After a wrong input the right outputs are put there, so that each finding is a cause and not the echo of another.
    if (!running_[id.index()].saw_wrong_input) write_outputs(planned_, id);
    for (const TensorId output : op.outputs) {
      const std::span<std::byte> bytes = planned_.tensors[output.index()];
      if (running_[id.index()].saw_wrong_input) std::ranges::copy(reference_.tensors[output.index()], bytes.begin());
      log(bytes, "output " + name(output) + " of " + name(id));
      mark_written(output);
    }
  }

  void write_outputs(RunMemory& run, OpId id) {
    const Op& op = graph_.op(id);
    std::vector<std::vector<std::byte>> masks(op.inputs.size());
    std::vector<Operand> inputs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i] || !pairs_input(op, i)) continue;
      masks[i] = undefined_mask(*op.inputs[i]);
      inputs.push_back({run.tensors[op.inputs[i]->index()], masks[i]});
    }
    std::vector<std::span<std::byte>> outputs;
    for (const TensorId output : op.outputs) outputs.push_back(run.tensors[output.index()]);
    // Element by element says nothing about which comes first.
    const bool backward = mix(mix(options_.seed, 3), id.index()) % 2 == 1;
    write_elementwise(inputs, outputs, running_[id.index()].key, backward ? Direction::backward : Direction::forward);
  }

  /// Inputs that no in-place pair gives away must be there as long as the op runs.
  void check_surviving_inputs(OpId id) {
    const Op& op = graph_.op(id);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i] || pairs_input(op, i)) continue;
      const std::span<const std::byte> bytes = planned_.tensors[op.inputs[i]->index()];
      const bool met = std::any_of(op.outputs.begin(), op.outputs.end(),
                                   [&](TensorId output) { return overlap(planned_.tensors[output.index()], bytes); });
      if (met) check(*op.inputs[i], "overwritten while read by " + name(id));
    }
  }

  void check_workspace(OpId id, std::size_t index) {
    const std::span<const std::byte> bytes = planned_.workspaces[id.index()][index];
    count(bytes.size());
    const std::optional<std::size_t> at = first_unlike_fill(bytes, workspace_key(id, index));
    if (at) find(workspace_name(id, index) + " changed at byte " + byte_number(*at) + writer(bytes, *at));
  }

  // ---------------------------------------------------------------------------------------------------------- tensors
  [[nodiscard]] std::size_t family(TensorId tensor) const { return families_.seats[tensor.index()].family; }

  void mark_written(TensorId tensor) {
    const Seat& seat = families_.seats[tensor.index()];
    if (seat.count != 0) written_[seat.family].add(seat.first, seat.count);
  }

  /// Empty where all bytes of the tensor have been written.
  [[nodiscard]] std::vector<std::byte> undefined_mask(TensorId tensor) const {
    if (planned_.tensors[tensor.index()].empty()) return {};
    const Seat& seat = families_.seats[tensor.index()];
    return written_[seat.family].mask(seat.first, seat.count);
  }

  /// Of the reference: a planned tensor that differs was found already.
  [[nodiscard]] std::uint64_t hash_of(TensorId tensor) const {
    const bool constant = families_.families[family(tensor)].flags.has(TensorFlag::constant);
    if (constant) return mix(mix(options_.seed, 4), tensor.index());
    const std::vector<std::byte> mask = undefined_mask(tensor);
    return hash({reference_.tensors[tensor.index()], mask});
  }

  /// Compares a tensor with the reference. `when` completes "tensor 'x', …".
  bool check(TensorId tensor, const std::string& when) {
    const std::span<const std::byte> bytes = planned_.tensors[tensor.index()];
    if (bytes.empty()) return true;
    count(bytes.size());
    const std::vector<std::byte> mask = undefined_mask(tensor);
    const std::span<const std::byte> right = reference_.tensors[tensor.index()];
    const std::optional<std::size_t> at = first_difference({bytes, mask}, {right, mask});
    if (!at) return true;
    find(name(tensor) + ", " + when + ": byte " + byte_number(*at) + " is " + hex(bytes[*at]) + ", should be " + hex(right[*at]) +
         writer(bytes, *at));
    return false;
  }

  // --------------------------------------------------------------------------------------------------------- findings
  [[nodiscard]] bool full() const { return report_.findings.size() >= options_.max_findings; }
  void find(const std::string& finding) {
    if (!full()) report_.findings.push_back("event " + std::to_string(event_) + ": " + finding);
  }
  void count(std::size_t cells) { report_.compared += Bytes(static_cast<std::int64_t>(cells) * options_.granularity.value()); }
  void log(std::span<const std::byte> bytes, std::string what) {
    if (!bytes.empty()) writes_.push_back({bytes, std::move(what)});
  }

  [[nodiscard]] std::string writer(std::span<const std::byte> bytes, std::size_t at) const {
    const auto last = std::find_if(writes_.rbegin(), writes_.rend(),
                                   [&](const Write& write) { return overlap(write.bytes, bytes.subspan(at, 1)); });
    return last == writes_.rend() ? "; never written" : "; last written by " + last->what;
  }

  [[nodiscard]] std::uint64_t workspace_key(OpId op, std::size_t index) const {
    return mix(mix(mix(options_.seed, 5), op.index()), index);
  }
  [[nodiscard]] std::string byte_number(std::size_t cell) const {
    return std::to_string(static_cast<std::int64_t>(cell) * options_.granularity.value());
  }
  [[nodiscard]] std::string name(TensorId id) const { return describe(graph_.tensor(id), id); }
  [[nodiscard]] std::string name(OpId id) const { return describe(graph_.op(id), id); }
  [[nodiscard]] std::string workspace_name(OpId op, std::size_t index) const {
    return "workspace " + std::to_string(index) + " of " + name(op);
  }

  const Graph& graph_;
  const ShadowOptions& options_;
  Families families_;
  RunMemory planned_;
  RunMemory reference_;
  std::vector<WrittenCells> written_;  ///< By family.
  std::vector<Running> running_;       ///< By op.
  std::vector<Write> writes_;
  std::size_t event_ = 0;
  ShadowReport report_;
};

}  // namespace

ShadowReport shadow_execute(const Graph& graph, const Plan& plan, const ShadowOptions& options) {
  Families families = find_families(graph, options.granularity);
  ShadowReport refused;
  RunMemory planned = planned_memory(graph, plan, families, options.granularity, refused.findings);
  if (!refused.findings.empty()) return refused;
  return Shadow(graph, options, std::move(families), std::move(planned)).run();
}

ShadowReport shadow_execute(const Graph& graph, HostMemory memory, const ShadowOptions& options) {
  STOWAGE_CHECK(options.granularity == Bytes(1), "real memory has no scale");
  RunMemory planned{SparseMemory({}), std::move(memory.tensors), std::move(memory.workspaces)};
  return Shadow(graph, options, find_families(graph, Bytes(1)), std::move(planned)).run();
}

}  // namespace stowage::testing
