#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stowage/alloc/scheduler.hpp"
#include "support/generators/random_backends.hpp"
#include "support/judges/reference_run.hpp"

namespace stowage::testing {

/// Runs a graph with a `Scheduler` on simulated devices and the CPU. Kernels and copies on the devices take effect as
/// late as the scheduler allows, so that a missing wait shows in the bytes.
class ScheduledRun {
 public:
  /// `backends` must outlive it. Constants, variables and externals get memory in their home and the reference's
  /// values.
  ScheduledRun(const Graph& graph, const TestKernels& kernels, Backends& backends, SchedulerOptions options);

  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  void write_own_addresses(const ReferenceRun& reference);
  [[nodiscard]] Status allocate() { return scheduler_->allocate(graph_, bound_); }
  /// Into the current slot.
  void write_inputs(const ReferenceRun& reference);
  /// With a seed, some pending work on the devices completes after every split, at random.
  [[nodiscard]] Status run(std::optional<std::uint64_t> seed = {});
  /// The first output or variable that differs from the reference, as text; none if all are equal.
  [[nodiscard]] std::optional<std::string> difference(const ReferenceRun& reference);

 private:
  [[nodiscard]] Status submit(std::size_t split);
  void write(TensorId tensor, std::byte* to, std::span<const std::byte> from);
  [[nodiscard]] std::vector<std::byte> read(TensorId tensor);
  [[nodiscard]] SimDevice* device_of(std::size_t backend);  ///< Null: the CPU.
  [[nodiscard]] SimRange range(TensorId placed, TensorId original) const;

  const Graph& graph_;
  const TestKernels& kernels_;
  Backends& backends_;
  std::vector<std::unique_ptr<Buffer>> own_;  ///< By family; null for others.
  std::vector<BoundTensor> bound_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace stowage::testing
