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
/// The graph runs twice in lockstep: once in the memory that the plan says, once in a reference memory where every
/// family of tensors (those that views, aliases and what bodies are given join) has bytes of its own. No op computes
/// anything real; it moves bytes such that any byte lost between its write and its read shows:
///   start   do what the plan says to do right before the op: clears, then copies; fill the outputs with poison and the
///           workspaces with a pattern; compare every input with the reference; what must be filled must hold its value
///   finish  write the outputs as a hash of the inputs; compare outputs, workspaces, and the inputs that must have
///   survived
/// An input that an in-place pair names contributes word by word, read right before the output's word at that place is
/// written, and an output that the plan puts in place is not poisoned. Everything else depends on all bytes of all
/// other inputs.
///
/// What ops move by value moves in the reference only, and must appear in the plan's memory by itself or by the plan's
/// copies: a packed concat or split, what comes out of a body, what a loop carries and results in. An op with a padded
/// group finds all its members from the first one. A branch runs one body, a loop makes 0 to 3 trips.
///
/// Several runs follow each other on the same memory. Each has one of the graph's batch labels. Variables and session
/// workspaces keep their content; callers' buffers are new in each run, and so are shared arenas under a refreshable
/// base; an op of fixed address must see the same addresses in every run.
///
/// Bytes that the graph itself never wrote are undefined: they are neither compared nor hashed, and what is undefined
/// as a whole (its writers have another label) is not copied. Constants have memory only where groups or bodies may
/// move them. This library knows nothing of liveness, lower, pack or verify: what is wrong is what goes wrong.
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

/// The same at addresses that somebody else chose. Precondition: the granularity is 1, and the graph has no groups,
/// fills or bodies: there is no plan that says how to serve them.
[[nodiscard]] ShadowReport shadow_execute(const Graph& graph, HostMemory memory, const ShadowOptions& options = {});

}  // namespace stowage::testing
