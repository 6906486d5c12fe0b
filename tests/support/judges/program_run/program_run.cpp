#include "support/judges/program_run/program_run.hpp"

#include <algorithm>
#include <map>

#include "graph/interface/relations.hpp"
#include "support/judges/shadow/hash.hpp"

namespace stowage::testing {

namespace {

/// Whether all bytes that were written are right.
bool holds(const std::vector<std::byte>& found, const Reference::Value& right) {
  return std::all_of(right.written.begin(), right.written.end(), [&](const WrittenCells::Cells& cells) {
    return std::equal(found.begin() + static_cast<std::ptrdiff_t>(cells.first),
                      found.begin() + static_cast<std::ptrdiff_t>(cells.last),
                      right.bytes.begin() + static_cast<std::ptrdiff_t>(cells.first));
  });
}

}  // namespace

ProgramRun::ProgramRun(const Graph& graph, Machine& machine, BufferType& type, std::uint64_t seed)
    : graph_(graph), machine_(&machine), type_(type), seed_(seed), lockstep_(graph), finished_(graph.ops().size()) {}

Status ProgramRun::run(const Allocation& allocation, GraphAllocator& allocator, std::size_t number) {
  if (own_.empty()) STOWAGE_TRY_STATUS(make_own());
  STOWAGE_TRY_STATUS(bind(allocator, allocation.plan, number));
  RunChoice choice = this->choice(number);
  choice.edges = allocation.plan.edges;
  lockstep_.begin_run(choice);
  if (!started_) write_own(allocation);
  started_ = true;
  write_inputs(allocation, number);
  const RunOps ops{
      .run = [&](const OpCall& call) { return submit(call); },
      .choose = [&](Decision& decision) -> Result<std::size_t> {
        const std::size_t body = lockstep_.choose(decision.call().op);
        STOWAGE_TRY_STATUS(look(decision));
        STOWAGE_TRY_STATUS(submit(lockstep_.enter_work(decision.call(), 0), decision.call().op));
        return body;
      },
      .repeat = [&](Decision& decision) -> Result<bool> {
        const bool again = lockstep_.repeat(decision.call().op, decision.iteration());
        STOWAGE_TRY_STATUS(look(decision));
        STOWAGE_TRY_STATUS(submit(lockstep_.enter_work(decision.call(), decision.iteration()), decision.call().op));
        return again;
      }};
  lockstep_.padding = allocation.plan.padding;
  const bool watches = machine_->watch_ends([this](ScopeId body) { return over_check(body); });
  Allocation changed;
  if (program || watches) {
    changed = allocation;
    if (program) changed.plan.program = *program;
    if (watches) mark_ends(changed.plan);
  }
  STOWAGE_TRY_STATUS(stowage::run(graph_, program || watches ? changed : allocation, machine_->device(), ops,
                                  {.batch = choice.batch}));
  lockstep_.finish();
  STOWAGE_TRY_STATUS(machine_->check());
  compare_results(allocation);
  return Done{};
}

RunChoice ProgramRun::choice(std::size_t number) const {
  const std::uint64_t seed = mix(mix(seed_, 7), number);
  if (graph_.batches().empty()) return {.seed = seed};
  return {.seed = seed, .batch = graph_.batches()[mix(seed, 8) % graph_.batches().size()]};
}

std::vector<std::string> ProgramRun::findings() const {
  std::vector<std::string> all = lockstep_.findings();
  all.insert(all.end(), findings_.begin(), findings_.end());
  const std::vector<std::string> more = machine_->findings();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// -------------------------------------------------------------------------------------------------- memory of callers

/// A buffer that is aligned to what is asked, and to no more in every other run.
Result<ProgramRun::Bound> ProgramRun::memory_for(TensorId tensor, Bytes size, Bytes alignment,
                                                 std::size_t number) const {
  STOWAGE_TRY(std::unique_ptr<Buffer> buffer, type_.allocate(size + alignment + alignment + alignment));
  const auto base = reinterpret_cast<std::uintptr_t>(buffer->base());
  const auto unit = static_cast<std::uintptr_t>(alignment.value());
  std::uintptr_t gap = (unit - base % unit) % unit;
  if (number % 2 == 1 && (base + gap) / unit % 2 == 0) gap += unit;
  std::byte* const address = buffer->base() + gap;
  return Bound{tensor, std::move(buffer), address};
}

Status ProgramRun::bind(GraphAllocator& allocator, const Plan& plan, std::size_t number) {
  std::vector<Bound> next;
  std::vector<BoundMemory> memories;
  for (const Binding& binding : plan.bindings) {
    STOWAGE_TRY(Bound bound, memory_for(binding.tensor, binding.size, binding.alignment, number));
    STOWAGE_TRY_STATUS(bound.buffer->clear(static_cast<std::uint8_t>(0x80 + number)));
    memories.push_back({binding.tensor, {bound.address, binding.size, type_.device()}});
    next.push_back(std::move(bound));
  }
  for (const Bound& own : own_) memories.push_back({own.tensor, {own.address, own.buffer->size(), type_.device()}});
  STOWAGE_TRY_STATUS(allocator.bind(memories));
  bound_ = std::move(next);
  return Done{};
}

/// For each set of tensors at fixed distances of which one has an address of its own: the lowest is bound.
Status ProgramRun::make_own() {
  struct ClassExtent {
    TensorFlags flags;
    Bytes lower = kMaxBytes;
    Bytes upper{-(std::int64_t{1} << 60)};
    TensorId lowest;
    Bytes alignment{1};
  };
  std::map<TensorId, ClassExtent> classes;
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const AliasPlace& place = graph_.relations().place(TensorId(t));
    ClassExtent& extent = classes[place.representative];
    extent.flags |= graph_.tensors()[t].flags;
    extent.alignment = std::max(extent.alignment, graph_.alignment(TensorId(t)));
    extent.upper = std::max(extent.upper, place.offset + graph_.tensors()[t].size);
    if (place.offset >= extent.lower) continue;
    extent.lower = place.offset;
    extent.lowest = TensorId(t);
  }
  for (const auto& [representative, extent] : classes) {
    if (!extent.flags.any_of(kOwnAddress)) continue;
    STOWAGE_TRY(Bound own, memory_for(extent.lowest, extent.upper - extent.lower, extent.alignment, 0));
    own_.push_back(std::move(own));
  }
  return Done{};
}

void ProgramRun::write_own(const Allocation& allocation) {
  Reference& reference = lockstep_.reference();
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const TensorId id(t);
    if (graph_.tensors()[t].view_of || !reference.flags(id).any_of(kOwnAddress) || reference.bytes(id).empty())
      continue;
    write_bytes(reference.bytes(id), mix(seed_, 3), t);
    reference.mark_written(id);
  }
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const TensorId id(t);
    if (!reference.flags(id).any_of(kOwnAddress) || reference.bytes(id).empty()) continue;
    machine_->write(allocation.tensors[t].data(), reference.bytes(id));
  }
}

void ProgramRun::write_inputs(const Allocation& allocation, std::size_t number) {
  Reference& reference = lockstep_.reference();
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const TensorId id(t);
    const bool input = graph_.tensors()[t].flags.has(TensorFlag::input);
    if (!input || reference.flags(id).has(TensorFlag::constant) || reference.bytes(id).empty()) continue;
    write_bytes(reference.bytes(id), mix(mix(seed_, 4), number), t);
    reference.mark_written(id);
    std::byte* const address = allocation.tensors[t].data();
    if (address != nullptr) machine_->write(address, reference.bytes(id));  // null: nobody reads it
  }
}

// --------------------------------------------------------------------------------------------------------------- ops

/// Puts a record in front of each copy at the end of a body, for the machine.
void ProgramRun::mark_ends(Plan& plan) {
  std::vector<ProgramStep> steps;
  const auto unused = static_cast<std::uint32_t>(plan.program->steps.size() + 1);
  for (const ProgramStep& step : plan.program->steps) {
    const bool at_end =
        step.kind == ProgramStep::Kind::copy && plan.copies[step.index].when.kind != CopyMoment::Kind::before_op;
    if (at_end)
      steps.push_back({ProgramStep::Kind::record, unused, StreamId(32 + step.scope.index()), step.scope, step.batch});
    steps.push_back(step);
  }
  plan.program->steps = std::move(steps);
}

/// To be called when copies at the end of a body are made that are submitted now.
std::function<void()> ProgramRun::over_check(ScopeId body) {
  return [this, body, before = lockstep_.work_in(body)] {
    for (const auto& [op, times] : before) {
      if (finished_[op.index()] < times)
        find("copies at the end of body " + std::to_string(body.index()) + " were made before " + describe(graph_, op) +
             " was over");
    }
  };
}

/// What the host sees when it is asked about an op with bodies.
Status ProgramRun::look(Decision& decision) {
  if (!reads_inputs_of_choices) return Done{};
  for (const Lockstep::Seen& seen : lockstep_.seen_by(decision.call(), decision.iteration())) {
    std::vector<std::byte> found(seen.right.bytes.size());
    STOWAGE_TRY_STATUS(decision.read(seen.input, found));
    if (!holds(found, seen.right))
      find(describe(graph_, seen.tensor) + " is wrong when " + describe(graph_, decision.call().op) +
           " is asked about");
  }
  return Done{};
}

Status ProgramRun::submit(const OpCall& call) {
  if (on_op) STOWAGE_TRY_STATUS(on_op(call.op));
  ++ops_;
  return submit(lockstep_.run(call), call.op);
}

Status ProgramRun::submit(const Lockstep::Expected& expected, OpId op) {
  if (!findings().empty()) return Error{ErrorCode::invalid, "the run went wrong", {}};
  for (const auto* parts : {&expected.work.reads, &expected.work.writes}) {
    for (const OpWork::Part& part : *parts) {
      if (part.address != nullptr && reinterpret_cast<std::uintptr_t>(part.address) > 4096) continue;
      find(describe(graph_, op) + " has an operand without an address");
      return Error{ErrorCode::invalid, "the run went wrong", {}};
    }
  }
  const auto done = [this, op, expected](std::uint64_t number) {
    for (const auto& [before, times] : expected.after) {
      if (finished_[before.index()] < times)
        find(describe(graph_, op) + " started before " + describe(graph_, before) + " was over");
    }
    ++finished_[op.index()];
    if (number != expected.number) find(describe(graph_, op) + " read something else than in the unplanned run");
  };
  STOWAGE_TRY_STATUS(machine_->launch(expected.work, done));
  machine_->advance();
  return Done{};
}

void ProgramRun::compare(const Allocation& allocation, TensorId tensor) {
  const Reference::Value right = lockstep_.reference().take(tensor);
  if (right.bytes.empty() || right.written.empty() || lockstep_.is_absent(tensor)) return;
  if (allocation.tensors[tensor.index()].data() == nullptr) return find(describe(graph_, tensor) + " has no address");
  std::vector<std::byte> found(right.bytes.size());
  machine_->read(found, allocation.tensors[tensor.index()].data());
  if (!holds(found, right)) find(describe(graph_, tensor) + " differs at the end");
}

void ProgramRun::compare_results(const Allocation& allocation) {
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const TensorFlags flags = graph_.tensors()[t].flags;
    if (flags.any_of({TensorFlag::output, TensorFlag::variable, TensorFlag::external, TensorFlag::constant}))
      compare(allocation, TensorId(t));
  }
}

}  // namespace stowage::testing
