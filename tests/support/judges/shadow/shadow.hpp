#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// Shadow execution: proves a plan by running it.
///
/// The graph runs twice in lockstep: once at the planned places, once in a reference memory in which every family of
/// tensors (joined by views, aliases and inputs of bodies) has separate bytes. Ops compute no real results; they hash
/// and write bytes such that any byte lost between its write and its read is detected:
/// - start: do what the plan requires right before the op: clears, then copies; fill the outputs with poison and the
///   workspaces with a pattern; compare every input with the reference; what must be filled must hold its value.
/// - finish: write the outputs as a hash of the inputs; compare outputs, workspaces, and the inputs that must have
///   survived: those that lie where an output does with which they have no in-place pair.
///
/// An input that an in-place pair names contributes word by word, read right before the output's word at that place is
/// written, and an output that the plan puts in place is not poisoned. Everything else depends on all bytes of all
/// other inputs.
/// Values that ops pass on (a packed concat or split, results of a body, carried values and results of a loop) are
/// moved in the reference only; in the plan's memory they must already be in place or be moved by the plan's copies. An
/// op with a padded group finds all its members from the first one. A branch runs one body, a loop makes 0 to 3
/// iterations.
///
/// Several runs follow each other on the same memory. Each has one of the graph's batch labels. Variables and session
/// workspaces keep their content; callers' buffers are new in each run, and so are shared arenas under a refreshable
/// base; an op of fixed address must see the same addresses in every run.
///
/// Bytes that the graph itself never wrote are undefined: they are neither compared nor hashed, and what is undefined
/// as a whole (its writers have another label) is not copied. Constants have memory only where groups or bodies may
/// move them. This library does not depend on liveness, lower, pack or verify: a plan is wrong if its execution goes
/// wrong.
namespace stowage::testing {

struct ShadowOptions {
  /// `random`: the streams interleave in an order that the graph allows, drawn from the seed; unordered ops overlap in
  /// time.
  enum class Order : std::uint8_t { linear, random };

  std::uint64_t seed = 0;
  Order order = Order::linear;
  /// Bytes of the graph for one byte here, so that large graphs run in little memory. Must divide the alignment of
  /// everything that is placed on its own, or neighbours would share a byte (a finding says so). Above 1, parts of a
  /// tensor that are written on different streams must be aligned to it too.
  Bytes granularity{1};
  std::size_t max_findings = 10;
  bool keep_inputs = false;  ///< The caller reads inputs after the run.
  std::size_t runs = 1;
  AddressBase base = AddressBase::fixed;
};

struct ShadowReport {
  std::vector<std::string> findings;  ///< Sentences that name step, op, tensor and byte. Empty: the plan works.
  std::size_t ops = 0;                ///< How many ran, each as often as it did.
  std::size_t copies = 0;             ///< Of the plan, as often as they were made.
  Bytes compared{};                   ///< Bytes of the plan's memory that were compared with the reference.
};

/// Runs `graph` with `plan`. A plan that cannot be run (a tensor without a place, a place outside its region) gives
/// findings too. Precondition: the graph has no races of its own: accesses to one family, of which one is a write, are
/// ordered in every run, and nobody writes a packed member while others that share its bytes are needed. Cost: a few
/// passes over the bytes that ops read and write, divided by the granularity. Thread-safe.
[[nodiscard]] ShadowReport shadow_execute(const Graph& graph, const Plan& plan, const ShadowOptions& options = {});

/// Real memory of the host for the tensors and workspaces of a graph. Whatever the run touches has as many bytes as in
/// the graph; constants have none.
struct HostMemory {
  std::vector<std::span<std::byte>> tensors;                  ///< By tensor.
  std::vector<std::vector<std::span<std::byte>>> workspaces;  ///< By op.
};

/// The same at addresses chosen by the caller. Precondition: the granularity is 1, and the graph has no groups, fills
/// or bodies, which would need a plan.
[[nodiscard]] ShadowReport shadow_execute(const Graph& graph, HostMemory memory, const ShadowOptions& options = {});

}  // namespace stowage::testing
