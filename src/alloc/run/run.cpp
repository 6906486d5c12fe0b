#include "stowage/alloc/run.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "alloc/run/answer_sources.hpp"

namespace stowage {
namespace {

Error invalid(std::string text) { return {ErrorCode::invalid, std::move(text), {}}; }

/// Steps `first` to `last` of a program.
struct StepRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// By scope: its steps, with those of the bodies inside. Empty for a graph without bodies.
std::vector<StepRange> ranges_of(const Graph& graph, const Program& program) {
  std::vector<StepRange> ranges(graph.has_bodies() ? graph.scopes().size() : 0);
  if (ranges.empty()) return ranges;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (ScopeId scope = program.steps[i].scope; scope != ScopeId(0); scope = graph.scope(scope).parent) {
      StepRange& range = ranges[scope.index()];
      if (range.last == 0) range.first = i;
      range.last = i + 1;
    }
  }
  return ranges;
}

/// What a loop carries of input `position`, if it does: that input is the `n`th with its tensor, and so is the pair.
std::optional<TensorId> carried_in(const Op& op, const Scope& body, std::size_t position) {
  if (!op.inputs[position]) return std::nullopt;
  const TensorId outer = *op.inputs[position];
  auto skipped = std::count(op.inputs.begin(), op.inputs.begin() + static_cast<std::ptrdiff_t>(position), outer);
  std::optional<TensorId> inner;
  for (const BodyInput& pair : body.inputs) {
    if (pair.outer != outer) continue;
    inner = pair.inner;
    if (skipped-- == 0) break;
  }
  const bool carried =
      std::any_of(body.carried.begin(), body.carried.end(), [&](const Carried& each) { return each.in == inner; });
  return carried ? inner : std::nullopt;
}

}  // namespace

class RunState {
 public:
  RunState(const Graph& graph, const Allocation& allocation, Device& device, const RunOps& ops,
           const RunOptions& options)
      : graph_(graph),
        allocation_(allocation),
        program_(allocation.plan.program.value()),
        device_(device),
        ops_(ops),
        sources_(graph, allocation, device, ops.repeat != nullptr),
        side_(options.side_stream.value_or(StreamId(graph.stream_count()))),
        used_(graph.stream_count()) {}

  Status run(const std::string& batch) {
    STOWAGE_TRY_STATUS(choose_batch(batch));
    STOWAGE_TRY_STATUS(check_memory());
    ranges_ = ranges_of(graph_, program_);
    const Status done = perform({0, program_.steps.size()});
    const Status idle = finish();
    return done ? idle : done;
  }

 private:
  using Kind = ProgramStep::Kind;

  // ------------------------------------------------------------------------------------------------- before the start

  Status choose_batch(const std::string& name) {
    if (graph_.batches().empty() && name.empty()) return Done{};
    const auto found = std::find(graph_.batches().begin(), graph_.batches().end(), name);
    if (found != graph_.batches().end()) {
      batch_ = static_cast<std::uint32_t>(found - graph_.batches().begin()) + 1;
      return Done{};
    }
    if (name.empty()) return invalid(fmt::format("graph '{}' has batches, and a run must choose one", graph_.name()));
    return invalid(fmt::format("graph '{}' has no batch '{}'", graph_.name(), name));
  }

  [[nodiscard]] bool is_done(const ProgramStep& step) const { return step.batch == 0 || step.batch == batch_; }

  [[nodiscard]] Status check_memory() const {
    const Plan& plan = allocation_.plan;
    for (const ProgramStep& step : program_.steps) {
      if (!is_done(step)) continue;
      if (step.kind == Kind::bind) {
        const Binding& binding = plan.bindings[step.index];
        STOWAGE_TRY_STATUS(check(binding.tensor, binding.size, address(binding.tensor)));
      } else if (step.kind == Kind::copy) {
        const Copy& copy = plan.copies[step.index];
        STOWAGE_TRY_STATUS(check(copy.tensor, copy.size, allocation_.copies[step.index].from.data()));
        STOWAGE_TRY_STATUS(check(copy.tensor, copy.size, allocation_.copies[step.index].to.data()));
      }
    }
    return Done{};
  }

  [[nodiscard]] Status check(TensorId tensor, Bytes size, const std::byte* address) const {
    if (address != nullptr || size == Bytes(0)) return Done{};
    return invalid(
        fmt::format("{} is not bound to memory, and needs {} bytes", describe(graph_, tensor), size.value()));
  }

  // -------------------------------------------------------------------------------------------------------- the steps

  Status perform(StepRange range) {
    for (std::size_t i = range.first; i < range.last; ++i) {
      const ProgramStep& step = program_.steps[i];
      const bool bodies = step.kind == Kind::op && !graph_.bodies(OpId(step.index)).empty();
      if (is_done(step)) {
        STOWAGE_TRY_STATUS(bodies ? perform_bodies(OpId(step.index), step.stream) : perform(step));
        STOWAGE_TRY_STATUS(sources_.submitted(i, step.stream));
      }
      if (bodies) i = end_of_bodies(OpId(step.index), i);
    }
    return Done{};
  }

  /// The last step of the bodies of an op, whose own step is number `at`.
  [[nodiscard]] std::size_t end_of_bodies(OpId op, std::size_t at) const {
    for (const ScopeId body : graph_.bodies(op)) at = std::max(at + 1, ranges_[body.index()].last) - 1;
    return at;
  }

  Status perform(const ProgramStep& step) {
    if (step.kind == Kind::bind) return Done{};
    use(step.stream);
    switch (step.kind) {
      case Kind::bind:
        return Done{};
      case Kind::fill: {
        const Clear& clear = allocation_.plan.clears[step.index];
        return device_.fill(step.stream, allocation_.clears[step.index].data(), clear.value, clear.size);
      }
      case Kind::copy: {
        const CopyAddress& copy = allocation_.copies[step.index];
        return device_.copy(step.stream, copy.to.data(), copy.from.data(), allocation_.plan.copies[step.index].size);
      }
      case Kind::op:
        return ops_.run(call_of(OpId(step.index), step.stream));
      case Kind::record:
        return record(step);
      case Kind::wait:
        return device_.wait(step.stream, events_[step.index].value());
    }
    return Done{};
  }

  Status record(const ProgramStep& step) {
    if (step.index >= events_.size()) events_.resize(step.index + 1);
    if (events_[step.index]) device_.forget(*std::exchange(events_[step.index], std::nullopt));
    STOWAGE_TRY(events_[step.index], device_.record(step.stream));
    return Done{};
  }

  void use(StreamId stream) {
    if (stream.index() >= used_.size()) used_.resize(stream.index() + 1);
    used_[stream.index()] = true;
  }

  /// Waits for all work; a device that failed once may succeed the second time.
  Status finish() {
    Status status = Done{};
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i] || device_.synchronize(StreamId(i))) continue;
      if (Status again = device_.synchronize(StreamId(i)); !again && status) status = std::move(again);
    }
    for (const std::optional<EventId>& event : events_) {
      if (event) device_.forget(*event);
    }
    sources_.forget();
    return status;
  }

  // -------------------------------------------------------------------------------------------------- ops with bodies

  Status perform_bodies(OpId id, StreamId stream) {
    use(stream);
    use(side_);
    const std::span<const ScopeId> bodies = graph_.bodies(id);
    if (graph_.op(id).control == Control::loop) return perform_loop(id, stream, bodies.front());
    std::size_t chosen = 0;
    if (bodies.size() > 1) {
      if (!ops_.choose) return invalid(fmt::format("{}: nobody chooses its body", describe(graph_, id)));
      call_of(id, stream);
      Decision decision(call_, 0, device_, side_, sources_);
      STOWAGE_TRY(chosen, ops_.choose(decision));
    }
    if (chosen >= bodies.size())
      return invalid(
          fmt::format("{} has {} bodies, but number {} was chosen", describe(graph_, id), bodies.size(), chosen));
    return perform(ranges_[bodies[chosen].index()]);
  }

  Status perform_loop(OpId id, StreamId stream, ScopeId body) {
    for (std::uint64_t iteration = 0;; ++iteration) {
      STOWAGE_TRY(const bool again, repeats(id, stream, iteration));
      if (!again) return Done{};
      STOWAGE_TRY_STATUS(perform(ranges_[body.index()]));
    }
  }

  Result<bool> repeats(OpId id, StreamId stream, std::uint64_t iteration) {
    const Op& op = graph_.op(id);
    if (!ops_.repeat) {
      if (op.trip_count) return iteration < static_cast<std::uint64_t>(*op.trip_count);
      return invalid(fmt::format("{}: nobody says how often it runs", describe(graph_, id)));
    }
    call_of(id, stream);
    if (iteration > 0) {
      const Scope& body = graph_.scope(graph_.bodies(id).front());
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (const std::optional<TensorId> inner = carried_in(op, body, i)) inputs_[i] = address(*inner);
      }
    }
    Decision decision(call_, iteration, device_, side_, sources_);
    return ops_.repeat(decision);
  }

  // -------------------------------------------------------------------------------------------------------- addresses

  /// Null for a tensor of size 0: its place may be the end of a buffer.
  [[nodiscard]] std::byte* address(TensorId tensor) const {
    return graph_.tensor(tensor).size == Bytes(0) ? nullptr : allocation_.tensors[tensor.index()].data();
  }

  const OpCall& call_of(OpId id, StreamId stream) {
    const Op& op = graph_.op(id);
    inputs_.clear();
    outputs_.clear();
    workspaces_.clear();
    for (const std::optional<TensorId>& input : op.inputs) inputs_.push_back(input ? address(*input) : nullptr);
    for (const TensorId output : op.outputs) outputs_.push_back(address(output));
    for (std::size_t i = 0; i < op.workspaces.size(); ++i)
      workspaces_.push_back(op.workspaces[i].size == Bytes(0) ? nullptr : allocation_.workspace(id, i).data());
    const std::vector<CopiedInput>& copied = allocation_.copied_inputs;
    if (!copied.empty()) {
      auto each = std::lower_bound(copied.begin(), copied.end(), id,
                                   [](const CopiedInput& input, OpId of) { return input.op < of; });
      for (; each != copied.end() && each->op == id; ++each)
        if (inputs_[each->input] != nullptr || graph_.tensor(*op.inputs[each->input]).size > Bytes(0))
          inputs_[each->input] = each->address.data();
    }
    call_ = {id, stream, inputs_, outputs_, workspaces_};
    return call_;
  }

  const Graph& graph_;
  const Allocation& allocation_;
  const Program& program_;
  Device& device_;
  const RunOps& ops_;
  AnswerSources sources_;
  StreamId side_;
  std::uint32_t batch_ = 0;
  std::vector<StepRange> ranges_;  ///< By scope.
  std::vector<bool> used_;         ///< By stream: whether it may have work.
  std::vector<std::optional<EventId>> events_;
  OpCall call_;
  std::vector<std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
  std::vector<std::byte*> workspaces_;
};

// ------------------------------------------------------------------------------------------------------------ Decision

Status Decision::wait() {
  if (complete_) return Done{};
  const std::vector<EventId>& events = sources_.find(call_);
  for (const EventId event : events) STOWAGE_TRY_STATUS(device_.wait(side_, event));
  if (!events.empty()) STOWAGE_TRY_STATUS(device_.synchronize(side_));
  complete_ = true;
  return Done{};
}

Status Decision::read(std::size_t input, std::span<std::byte> to) {
  STOWAGE_CHECK(input < call_.inputs.size(), "an op has no such input");
  STOWAGE_TRY_STATUS(wait());
  STOWAGE_TRY_STATUS(device_.copy(side_, to.data(), call_.inputs[input], Bytes(static_cast<std::int64_t>(to.size()))));
  return device_.synchronize(side_);
}

Status run(const Graph& graph, const Allocation& allocation, Device& device, const RunOps& ops,
           const RunOptions& options) {
  return RunState(graph, allocation, device, ops, options).run(options.batch);
}

}  // namespace stowage
