#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/alloc/address.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/memory.hpp"
#include "stowage/plan.hpp"
#include "stowage/planner.hpp"

namespace stowage {

/// Why no existing plan fits a graph, so that it was planned again or refused. Later values mean a
/// closer match.
enum class ReplanReason : std::uint8_t {
  none,       ///< An existing plan fits.
  first,      ///< There was no plan.
  structure,  ///< Different ops, tensors, edges, bases of views, streams, orderings or tensors kept
              ///< apart.
  memory,     ///< A different memory, alignment or largest size.
  flags,      ///< Different flags of a tensor, or a different `no_reuse`.
  size,       ///< A tensor or workspace is larger than planned.
  view,  ///< A view or alias has another offset in its base, and the plan depends on the old one.
  in_place,  ///< An output that is computed in place no longer fits into its input.
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(ReplanReason reason);

/// What did not fit, in terms of the requested graph.
struct Replan {
  ReplanReason reason = ReplanReason::none;
  std::optional<TensorId> tensor = {};  ///< If it concerns one tensor.
  std::optional<OpId> op = {};          ///< If it concerns one op.

  friend bool operator==(const Replan&, const Replan&) = default;
};

/// "size: tensor 3", "structure: op 7", "first".
[[nodiscard]] STOWAGE_EXPORT std::string to_string(const Replan& replan);

/// Where a copy of the plan is made.
struct CopyAddress {
  Address from;
  Address to;

  friend bool operator==(const CopyAddress&, const CopyAddress&) = default;
};

/// An input that an op reads from a copy, instead of where the tensor lies.
struct CopiedInput {
  OpId op;
  std::uint32_t input = 0;  ///< Its position in the op's list.
  Address address;

  friend bool operator==(const CopiedInput&, const CopiedInput&) = default;
};

/// The addresses of one graph, and what a run of it does. A plain value; the allocator owns the
/// buffers. `run` (stowage/alloc/run.hpp) carries it out.
struct Allocation {
  std::vector<Address> tensors;              ///< By tensor.
  std::vector<Address> workspaces;           ///< Of all ops, in order.
  std::vector<std::size_t> first_workspace;  ///< By op: the index of its first workspace.
  Plan plan;  ///< The plan of `GraphAllocator::as_served(graph)`, with which it passes `verify`.
  std::vector<Address> clears;             ///< By entry of `plan.clears`.
  std::vector<CopyAddress> copies;         ///< By entry of `plan.copies`.
  std::vector<CopiedInput> copied_inputs;  ///< Ascending by op and input.

  [[nodiscard]] const Address& workspace(OpId op, std::size_t index) const {
    return workspaces[first_workspace[op.index()] + index];
  }
};

/// Memory that the caller owns.
struct CallerMemory {
  std::byte* address = nullptr;
  Bytes size;
  DeviceId device;  ///< The one that the memory belongs to; the CPU is device 0.
};

/// A tensor that lies in memory of the caller.
struct BoundMemory {
  TensorId tensor;
  CallerMemory memory;
};

struct GraphAllocatorOptions {
  /// How each graph is planned. A few milliseconds are nearly always enough. `base` does not
  /// matter: what needs a fixed address always gets memory of its own.
  PlanOptions plan = {.time_limit = std::chrono::milliseconds(5)};
  /// How many plans are kept, at least 1; the least recently used one is evicted.
  std::size_t max_graphs = 16;
  /// Buffer types of these devices use virtual memory if the device has it and addresses can be
  /// reserved: growth then never moves an address, and single pages can be freed. Otherwise, and
  /// for other types, there are plain buffers, which is not an error. The devices must outlive the
  /// allocator; nulls are skipped.
  std::vector<Device*> virtual_memory = {};
  Bytes address_space{std::int64_t{1} << 36};  ///< With virtual memory: the addresses reserved for
                                               ///< each chunk, hence its largest size.
  /// With virtual memory: the unit of mapping. Rounded up to the granularity.
  Bytes page_size{std::int64_t{2} << 20};
};

struct GraphAllocatorCounters {
  std::uint64_t plans = 0;    ///< Graphs planned and kept.
  std::uint64_t replans = 0;  ///< Of these, those planned by `allocate`.
  /// Calls of `allocate` served by an existing plan and existing buffers.
  std::uint64_t hits = 0;
  /// Of these, those with other sizes or views than the plan served last.
  std::uint64_t fits_smaller = 0;
  std::uint64_t refusals = 0;            ///< Calls of `allocate` that failed with `not_reserved`.
  std::uint64_t buffer_allocations = 0;  ///< Buffers made, including reserved address ranges.
  std::uint64_t growths = 0;             ///< Calls that had to make or grow buffers.
  Bytes bytes_returned = {};             ///< Freed by `trim`.

  friend bool operator==(const GraphAllocatorCounters&, const GraphAllocatorCounters&) = default;
};

/// Gives every tensor of a graph an address in buffers of one or several types, using plans that it
/// makes and caches. The equivalent of ggml_gallocr.
///
/// Memory i of a graph is served by type i; memories of the same type share one arena and its
/// buffers. A type's buffers are called chunks: one, or several if the type or the memory has a
/// largest size.
///
/// Several graphs (prompt, decode, several batch sizes) share one set of buffers, large enough for
/// each of them; only one graph is in use at a time. A plan serves every graph with the same
/// structure, flags and memories whose sizes are not larger than planned, whose in-place outputs
/// still fit into their inputs, and whose views have the same offsets where the plan depends on
/// them. Names, kinds, dtypes, shapes, costs and other fields for people do not matter.
///
/// Groups, fills, copies, zero copy, batches, bodies and rings are served too; such a plan serves
/// only graphs of the same sizes. What such a graph needs besides addresses is in
/// `Plan::program`. Memory by kind of arena:
/// - shared and rings: in the chunks. They may move when the chunks grow for another graph.
/// - fixed (for ops of fixed address), and rings that such ops access: in buffers of their own,
/// which stay as long as the plan is kept.
/// - session: in one block of memory per type, which all graphs share; it keeps its content, and
///   moves only when a graph needs more of it. It never moves with virtual memory, nor once a graph
///   has a session workspace of fixed address: then `reserve` refuses graphs that need more of it.
/// - bound tensors and what a plan puts into their memory: in the caller's, see `bind`.
///
/// Constants, variables and external tensors with their views get a null address unless they are
/// bound (`allocate_all` makes memory for them), and so do unused tensors. Sizes are the graph's:
/// it must include what kernels read beyond the end of a tensor.
///
/// A call that fails changes neither plans nor buffers nor addresses. Buffers that must grow are
/// replaced; the new one is allocated before the old one is freed. All work on them must be
/// complete by then, and their content is lost. With virtual memory, pages are added instead: no
/// address changes, no content is lost, and old and new memory are not needed at the same time.
///
/// Not thread-safe. Move-only. Types and devices must outlive it.
class STOWAGE_EXPORT GraphAllocator {
 public:
  /// Precondition: at least one type, none null; valid options.
  explicit GraphAllocator(std::vector<BufferType*> types, GraphAllocatorOptions options = {});
  explicit GraphAllocator(BufferType& type, GraphAllocatorOptions options = {});
  ~GraphAllocator();
  GraphAllocator(GraphAllocator&& other) noexcept;
  GraphAllocator& operator=(GraphAllocator&& other) noexcept;

  /// Plans the graph, unless an existing plan fits, and makes the buffers large enough; afterwards
  /// `allocate` of it, or of any matching graph, allocates no memory. Fails with `invalid` when the
  /// graph has more memories than there are types, cannot be aligned as the types require, or needs
  /// more session memory while that must keep its address; with `out_of_memory`, naming type and
  /// size, when memory is exhausted or a tensor is larger than the largest buffer, or naming the
  /// memory, when the capacity in the options is too small; and as `stowage::plan` does.
  Status reserve(const Graph& graph);

  /// The bytes that the graph alone needs, by type; 0 for a type that occurred earlier in the list.
  /// Changes nothing. A buffer with an unaligned base is larger by the alignment.
  Result<std::vector<Bytes>> reserve_sizes(const Graph& graph) const;

  /// The addresses of the graph, valid until the next non-const call. If no plan fits: with one
  /// type, reserves the graph (and fails as `reserve` does); with several, fails with
  /// `not_reserved`. If a plan fits and last served a graph of the same sizes, this is a single
  /// pass over the graph without heap allocation. Buffers are reset (`Buffer::reset`).
  Result<const Allocation*> allocate(const Graph& graph);

  /// Says where tensors of the graph that was allocated last lie, from now on and until they are
  /// bound again, also when other graphs are allocated in between. Takes all or, on failure, none.
  /// May be called from run to run, but not during one. Changes addresses in the `Allocation`.
  ///
  /// For tensors that the plan binds (`Plan::bindings`), which all need memory before a run; and
  /// for constants, variables and external tensors, so that runs know them. One tensor of those
  /// that share memory is enough.
  ///
  /// Fails with `invalid`, naming the tensor, if it is none of these; if the memory is too small,
  /// is not aligned as the plan or the graph says, is on another device than the memory of the
  /// graph (a type that can tell is asked whose it is), or overlaps that of another tensor (unless
  /// neither is bound by the plan) or a buffer of this allocator. O(bound tensors + buffers).
  Status bind(std::span<const BoundMemory> memories);
  Status bind(TensorId tensor, const CallerMemory& memory) {
    const BoundMemory one{tensor, memory};
    return bind({&one, 1});
  }

  /// Frees memory that the last graph does not need: pages with virtual memory, otherwise whole
  /// chunks. The graph's addresses do not change. Larger graphs allocate again when they come.
  /// Fails if a device does; memory freed until then stays freed.
  Status trim();

  /// Plans the graph for its own sizes, even if a plan for larger ones fits, and frees what it does
  /// not need, for example after a large graph. Invalidates all earlier addresses. Fails as
  /// `reserve` and `trim` do.
  Status trim(const Graph& graph);

  /// The graph that is actually planned: memories by type, with the types' alignments and largest
  /// sizes. Of tensors joined by aliases, only the lowest gets the type's alignment; the position
  /// of the others follows from it.
  Result<Graph> as_served(const Graph& graph) const;

  /// The total size of a type's chunks; 0 before `reserve`, and for a type that occurred earlier in
  /// the list.
  [[nodiscard]] Bytes buffer_size(std::size_t type) const;
  /// The same for what stays where it is or keeps its content: fixed and session memory.
  [[nodiscard]] Bytes permanent_size(std::size_t type) const;
  /// At least 1 once something is reserved, even of size 0; 0 before that, and for a type that
  /// occurred earlier in the list.
  [[nodiscard]] std::size_t buffer_count(std::size_t type) const;
  /// Valid until buffers grow or `trim` is called.
  [[nodiscard]] Buffer& buffer(std::size_t type, std::size_t chunk) const;

  /// Why the last graph was planned again or refused.
  [[nodiscard]] Replan last_replan() const;
  [[nodiscard]] const GraphAllocatorCounters& counters() const;
  /// The number of plans kept.
  [[nodiscard]] std::size_t graph_count() const;

 private:
  class STOWAGE_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
