#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stowage/alloc/run.hpp"
#include "support/judges/program_run/lockstep.hpp"
#include "support/judges/program_run/machine.hpp"

namespace stowage::testing {

/// Runs a graph through a `GraphAllocator` and `run`, on real memory, and compares every operand of every op, and the
/// results, with the unplanned run: bit for bit.
class ProgramRun {
 public:
  /// `type` is that of all memories of the graph. All must outlive it.
  ProgramRun(const Graph& graph, Machine& machine, BufferType& type, std::uint64_t seed);

  /// One run: new inputs, in new buffers where the caller provides them; the body of each branch, the trips of each
  /// loop and the batch are drawn from the seed and `number`.
  Status run(const Allocation& allocation, GraphAllocator& allocator, std::size_t number);
  /// What a run of that number chooses.
  [[nodiscard]] RunChoice choice(std::size_t number) const;
  /// The same on another machine: another pace.
  void use(Machine& machine) { machine_ = &machine; }

  /// Of all runs so far: sentences that name ops and tensors. Empty: all is right.
  [[nodiscard]] std::vector<std::string> findings() const;
  [[nodiscard]] const Lockstep& lockstep() const { return lockstep_; }
  [[nodiscard]] std::size_t ops() const { return ops_; }
  /// In place of the allocation's.
  std::optional<Program> program = {};
  /// Whether the host reads the inputs of each op with bodies that it is asked about, which makes it wait.
  bool reads_inputs_of_choices = false;
  /// Called with each op that is run, before it is submitted; an error ends the run.
  std::function<Status(OpId)> on_op = {};

 private:
  struct Bound {
    TensorId tensor;
    std::unique_ptr<Buffer> buffer;
    std::byte* address = nullptr;
  };

  Status bind(GraphAllocator& allocator, const Plan& plan, std::size_t number);
  [[nodiscard]] Result<Bound> memory_for(TensorId tensor, Bytes size, Bytes alignment, std::size_t number) const;
  Status make_own();
  void write_own(const Allocation& allocation);
  void write_inputs(const Allocation& allocation, std::size_t number);
  void compare_results(const Allocation& allocation);
  void compare(const Allocation& allocation, TensorId tensor);
  static void mark_ends(Plan& plan);
  [[nodiscard]] std::function<void()> over_check(ScopeId body);
  Status look(Decision& decision);
  Status submit(const OpCall& call);
  Status submit(const Lockstep::Expected& expected, OpId op);
  void find(std::string finding) { findings_.push_back(std::move(finding)); }

  const Graph& graph_;
  Machine* machine_;
  BufferType& type_;
  std::uint64_t seed_;
  Lockstep lockstep_;
  std::vector<Bound> own_;             ///< Constants, variables and external tensors.
  std::vector<Bound> bound_;           ///< Of the current run.
  std::vector<std::size_t> finished_;  ///< By op: how often its work was done.
  bool started_ = false;
  std::size_t ops_ = 0;
  std::vector<std::string> findings_;
};

}  // namespace stowage::testing
