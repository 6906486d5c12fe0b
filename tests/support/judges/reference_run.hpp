#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowage/graph.hpp"
#include "support/judges/shadow/families.hpp"

/// What a graph computes in tests, and the results if nothing shares memory, which every other way to run it must
/// reproduce bit for bit.
namespace stowage::testing {

/// Every byte of every output depends on the op, the output, its own place, and every defined byte of every input.
/// Bytes that nobody wrote are undefined and count for nothing. A value; safe to use from any thread.
class TestKernels {
 public:
  explicit TestKernels(const Graph& graph);

  /// Precondition: `inputs` are those that the op has, without omitted ones; `outputs` have their sizes.
  void compute(OpId op, std::span<const std::vector<std::byte>> inputs,
               std::span<std::vector<std::byte>> outputs) const;

  [[nodiscard]] const Families& families() const { return families_; }
  /// By byte: 0xff where the tensor is defined after the last op, else 0. Empty: everywhere.
  [[nodiscard]] std::vector<std::byte> defined_at_end(TensorId tensor) const { return at_end_[tensor.index()]; }

 private:
  Families families_;
  std::vector<std::vector<std::vector<std::byte>>> masks_;  ///< By op, by input that is not omitted.
  std::vector<std::vector<std::byte>> at_end_;              ///< By tensor.
};

/// Runs a graph in the order of its ops, with every family of tensors in separate memory.
class ReferenceRun {
 public:
  /// Constants, variables and external tensors get their first values. `kernels` outlives it.
  ReferenceRun(const Graph& graph, const TestKernels& kernels, std::uint64_t seed);

  /// New values for the inputs.
  void write_inputs(std::uint64_t seed);
  void run();

  [[nodiscard]] std::span<const std::byte> value(TensorId tensor) const;
  /// Of a whole family.
  [[nodiscard]] std::span<const std::byte> family(std::size_t number) const { return memory_[number]; }

 private:
  [[nodiscard]] std::span<std::byte> bytes(TensorId tensor);

  const Graph& graph_;
  const TestKernels& kernels_;
  std::vector<std::vector<std::byte>> memory_;  ///< By family.
};

}  // namespace stowage::testing
