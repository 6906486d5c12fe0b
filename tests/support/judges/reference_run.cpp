#include "support/judges/reference_run.hpp"

#include <algorithm>

#include "support/judges/shadow/hash.hpp"
#include "support/judges/shadow/memory.hpp"

namespace stowage::testing {

TestKernels::TestKernels(const Graph& graph) : families_(find_families(graph, Bytes(1))) {
  std::vector<WrittenCells> written(families_.families.size());
  const auto write = [&](TensorId tensor) {
    const Seat& seat = families_.seats[tensor.index()];
    if (seat.count > 0) written[seat.family].add(seat.first, seat.count);
  };
  const auto mask = [&](TensorId tensor) {
    const Seat& seat = families_.seats[tensor.index()];
    return seat.count == 0 ? std::vector<std::byte>{} : written[seat.family].mask(seat.first, seat.count);
  };
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const bool own = families_.families[families_.seats[t].family].flags.any_of(kOwnAddress);
    if (own || graph.tensors()[t].flags.has(TensorFlag::input)) write(TensorId(t));
  }
  for (const Op& op : graph.ops()) {
    masks_.emplace_back();
    if (op.no_task) continue;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) masks_.back().push_back(mask(*input));
    }
    for (const TensorId output : op.outputs) write(output);
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) at_end_.push_back(mask(TensorId(t)));
}

void TestKernels::compute(OpId op, std::span<const std::vector<std::byte>> inputs,
                          std::span<std::vector<std::byte>> outputs) const {
  std::uint64_t key = mix(0x5707a6e, op.index());
  for (std::size_t i = 0; i < inputs.size(); ++i) key = mix(key, hash({inputs[i], masks_[op.index()][i]}));
  for (std::size_t i = 0; i < outputs.size(); ++i) fill(outputs[i], mix(key, i));
}

ReferenceRun::ReferenceRun(const Graph& graph, const TestKernels& kernels, std::uint64_t seed)
    : graph_(graph), kernels_(kernels) {
  for (std::size_t f = 0; f < kernels.families().families.size(); ++f) {
    memory_.emplace_back(kernels.families().families[f].cells);
    fill(memory_.back(), mix(seed, f));
  }
}

void ReferenceRun::write_inputs(std::uint64_t seed) {
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const bool own = kernels_.families().families[kernels_.families().seats[t].family].flags.any_of(kOwnAddress);
    if (graph_.tensors()[t].flags.has(TensorFlag::input) && !own) fill(bytes(TensorId(t)), mix(seed, t));
  }
}

void ReferenceRun::run() {
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    const Op& op = graph_.ops()[k];
    if (op.no_task) continue;
    std::vector<std::vector<std::byte>> inputs;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) inputs.emplace_back(value(*input).begin(), value(*input).end());
    }
    std::vector<std::vector<std::byte>> outputs;
    for (const TensorId output : op.outputs) outputs.emplace_back(value(output).size());
    kernels_.compute(OpId(k), inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) std::ranges::copy(outputs[i], bytes(op.outputs[i]).begin());
  }
}

std::span<const std::byte> ReferenceRun::value(TensorId tensor) const {
  const Seat& seat = kernels_.families().seats[tensor.index()];
  return std::span(memory_[seat.family]).subspan(seat.first, seat.count);
}

std::span<std::byte> ReferenceRun::bytes(TensorId tensor) {
  const Seat& seat = kernels_.families().seats[tensor.index()];
  return std::span(memory_[seat.family]).subspan(seat.first, seat.count);
}

}  // namespace stowage::testing
