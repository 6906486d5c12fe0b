#include "support/judges/scheduled_run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

namespace stowage::testing {
namespace {

/// Where the tests' own reads and writes go: it has nothing else to wait for.
constexpr StreamId kSideStream{9};

/// All of them: with one each, two threads that share the device could finish each other's, and one go on without its
/// own.
void finish_side_work(SimDevice& device) { device.finish(kSideStream, std::numeric_limits<std::size_t>::max()); }

/// What an op reads, by original tensor and by the one that the partition reads instead.
struct Operands {
  std::vector<SimRange> inputs = {};
  std::vector<SimRange> outputs = {};
};

void run_on_host(const TestKernels& kernels, OpId op, const Operands& operands) {
  std::vector<std::vector<std::byte>> inputs;
  for (const SimRange& range : operands.inputs) inputs.emplace_back(range.address, range.address + range.size.value());
  std::vector<std::vector<std::byte>> outputs;
  for (const SimRange& range : operands.outputs) outputs.emplace_back(static_cast<std::size_t>(range.size.value()));
  kernels.compute(op, inputs, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) std::ranges::copy(outputs[i], operands.outputs[i].address);
}

}  // namespace

ScheduledRun::ScheduledRun(const Graph& graph, const TestKernels& kernels, Backends& backends, SchedulerOptions options)
    : graph_(graph), kernels_(kernels), backends_(backends), own_(kernels.families().families.size()) {
  const Result<Partition> parted = partition(graph, backends.list, options.partition);
  STOWAGE_CHECK(parted.has_value(), parted ? "" : to_string(parted.error()).c_str());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const Seat& seat = kernels.families().seats[t];
    const Family& family = kernels.families().families[seat.family];
    if (!family.flags.any_of(kOwnAddress) || own_[seat.family]) continue;
    BufferType& type = *backends.list[parted->graph.tensor(TensorId(t)).memory.index()].memory;
    own_[seat.family] = type.allocate(Bytes(static_cast<std::int64_t>(std::max<std::size_t>(family.cells, 1)))).value();
    bound_.push_back({TensorId(t), own_[seat.family]->base() + seat.first});
  }
  scheduler_ = std::make_unique<Scheduler>(backends.list, std::move(options));
}

void ScheduledRun::write_own_addresses(const ReferenceRun& reference) {
  for (std::size_t f = 0; f < own_.size(); ++f) {
    if (own_[f])
      STOWAGE_CHECK(own_[f]->write(Bytes(0), reference.family(f)).has_value(), "the buffer has the family's size");
  }
}

void ScheduledRun::write_inputs(const ReferenceRun& reference) {
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const bool own = own_[kernels_.families().seats[t].family] != nullptr;
    if (!graph_.tensors()[t].flags.has(TensorFlag::input) || own) continue;
    write(TensorId(t), scheduler_->address(TensorId(t)), reference.value(TensorId(t)));
  }
}

Status ScheduledRun::run(std::optional<std::uint64_t> seed) {
  std::mt19937_64 random(seed.value_or(0));
  return scheduler_->run([&](std::size_t split) -> Status {
    STOWAGE_TRY_STATUS(submit(split));
    for (std::size_t b = 0; b < backends_.list.size() && seed; ++b) {
      if (SimDevice* const device = device_of(b)) device->finish(backends_.list[b].stream, random() % 4);
    }
    return Done{};
  });
}

Status ScheduledRun::submit(std::size_t number) {
  const Partition& partition = scheduler_->partition();
  const Split& split = partition.splits[number];
  for (std::size_t k = split.begin.index(); k < split.end.index(); ++k) {
    const Op& op = partition.graph.ops()[k];
    if (op.no_task || !partition.origins[k]) continue;
    const OpId origin = *partition.origins[k];
    Operands operands;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i]) operands.inputs.push_back(range(*op.inputs[i], *graph_.op(origin).inputs[i]));
    }
    for (const TensorId output : op.outputs) operands.outputs.push_back(range(output, output));
    SimDevice* const device = device_of(split.backend);
    if (device == nullptr) {
      run_on_host(kernels_, origin, operands);
      continue;
    }
    const auto compute = [this, origin](auto inputs, auto outputs) { kernels_.compute(origin, inputs, outputs); };
    STOWAGE_TRY_STATUS(device->launch_kernel(backends_.list[split.backend].stream,
                                             {std::move(operands.inputs), std::move(operands.outputs), compute}));
  }
  return Done{};
}

std::optional<std::string> ScheduledRun::difference(const ReferenceRun& reference) {
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    if (!graph_.tensors()[t].flags.any_of({TensorFlag::output, TensorFlag::variable, TensorFlag::external})) continue;
    const std::vector<std::byte> bytes = read(TensorId(t));
    const std::vector<std::byte> defined = kernels_.defined_at_end(TensorId(t));
    const std::span<const std::byte> right = reference.value(TensorId(t));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == right[i] || (!defined.empty() && defined[i] == std::byte{0})) continue;
      return describe(graph_.tensors()[t], TensorId(t)) + " differs at byte " + std::to_string(i) + " of " +
             std::to_string(bytes.size());
    }
  }
  return std::nullopt;
}

void ScheduledRun::write(TensorId tensor, std::byte* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  SimDevice* const device = device_of(scheduler_->partition().graph.tensor(tensor).memory.index());
  if (device == nullptr) {
    std::memcpy(to, from.data(), from.size());
    return;
  }
  const std::vector<std::byte> bytes(from.begin(), from.end());
  const SimRange range{to, Bytes(static_cast<std::int64_t>(from.size()))};
  const auto compute = [bytes](auto, auto outputs) { outputs[0] = bytes; };
  STOWAGE_CHECK(device->launch_kernel(kSideStream, {{}, {range}, compute}).has_value(), "an input has memory");
  finish_side_work(*device);
}

std::vector<std::byte> ScheduledRun::read(TensorId tensor) {
  const SimRange from = range(tensor, tensor);
  if (from.size == Bytes(0)) return {};
  SimDevice* const device = device_of(scheduler_->partition().graph.tensor(tensor).memory.index());
  if (device == nullptr) return {from.address, from.address + from.size.value()};
  std::vector<std::byte> result;
  const auto compute = [&result](auto inputs, auto) { result = inputs[0]; };
  STOWAGE_CHECK(device->launch_kernel(kSideStream, {{from}, {}, compute}).has_value(), "an output has memory");
  finish_side_work(*device);
  return result;
}

SimDevice* ScheduledRun::device_of(std::size_t backend) {
  return dynamic_cast<SimDevice*>(backends_.list[backend].device);
}

SimRange ScheduledRun::range(TensorId placed, TensorId original) const {
  return {scheduler_->address(placed), graph_.tensor(original).size};
}

}  // namespace stowage::testing
