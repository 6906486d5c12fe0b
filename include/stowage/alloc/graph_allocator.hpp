#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// The addresses of one graph. A plain value; the allocator owns the buffers.
struct Allocation {
  std::vector<Address> tensors;              ///< By tensor.
  std::vector<Address> workspaces;           ///< Of all ops, in order.
  std::vector<std::size_t> first_workspace;  ///< By op: the index of its first workspace.
  Plan plan;  ///< The plan of `GraphAllocator::as_served(graph)`, with which it passes `verify`.

  [[nodiscard]] const Address& workspace(OpId op, std::size_t index) const {
    return workspaces[first_workspace[op.index()] + index];
  }
};

struct GraphAllocatorOptions {
  /// How each graph is planned. A few milliseconds are nearly always enough.
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
/// Constants, variables and external tensors with their views (see `allocate_all`), and unused
/// tensors, get a null address. Sizes are the graph's: it must include what kernels read beyond the
/// end of a tensor.
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
  /// more than addresses (`Graph::needs_addresses_only`); with `out_of_memory`, naming type and
  /// size, when memory is exhausted or a tensor is larger than the largest buffer, or naming the
  /// memory, when the capacity in the options is too small.
  Status reserve(const Graph& graph);

  /// The bytes that the graph alone needs, by type; 0 for a type that occurred earlier in the list.
  /// Changes nothing. A buffer with an unaligned base is larger by the alignment.
  Result<std::vector<Bytes>> reserve_sizes(const Graph& graph) const;

  /// The addresses of the graph, valid until the next non-const call. If no plan fits: with one
  /// type, reserves the graph (and fails as `reserve` does); with several, fails with
  /// `not_reserved`. If a plan fits and last served a graph of the same sizes, this is a single
  /// pass over the graph without heap allocation. Buffers are reset (`Buffer::reset`).
  Result<const Allocation*> allocate(const Graph& graph);

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
