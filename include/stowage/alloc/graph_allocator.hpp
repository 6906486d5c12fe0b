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

/// Why no plan that was there fits a graph: the graph was planned anew, or refused. The later in
/// this list, the closer it came.
enum class ReplanReason : std::uint8_t {
  none,       ///< A plan that was there fits.
  first,      ///< There was none.
  structure,  ///< Other ops, tensors, edges, views of other tensors, streams or orderings.
  memory,     ///< Another memory, alignment or largest size.
  flags,      ///< Another flag of a tensor, or another `no_reuse`.
  size,       ///< A tensor or workspace is larger than planned.
  view,       ///< A view or alias lies elsewhere in its base, and the plan relies on where it was.
  in_place,   ///< An output that takes the place of an input does not fit into it any more.
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(ReplanReason reason);

/// What did not fit, of the graph that was asked for.
struct Replan {
  ReplanReason reason = ReplanReason::none;
  std::optional<TensorId> tensor = {};  ///< Where it is about one tensor.
  std::optional<OpId> op = {};          ///< Where it is about one op.

  friend bool operator==(const Replan&, const Replan&) = default;
};

/// "size: tensor 3", "structure: op 7", "first".
[[nodiscard]] STOWAGE_EXPORT std::string to_string(const Replan& replan);

/// The addresses of one graph. A plain value; the buffers are the allocator's.
struct Allocation {
  std::vector<Address> tensors;              ///< By tensor.
  std::vector<Address> workspaces;           ///< Of all ops, one after the other.
  std::vector<std::size_t> first_workspace;  ///< By op: where its workspaces begin.
  Plan plan;  ///< For `GraphAllocator::as_served` of the graph; passes `verify` with it.

  [[nodiscard]] const Address& workspace(OpId op, std::size_t index) const {
    return workspaces[first_workspace[op.index()] + index];
  }
};

struct GraphAllocatorOptions {
  /// How each graph is planned. A few milliseconds find nearly all there is to find.
  PlanOptions plan = {.time_limit = std::chrono::milliseconds(5)};
  /// How many plans are kept, at least 1; the one not used for the longest time goes.
  std::size_t max_graphs = 16;
  /// Types of these devices take addresses and pages apart where the device can
  /// (`Device::virtual_memory`): growth then never moves an address, and pages can be returned.
  /// Other types have plain buffers. Devices outlive the allocator; nulls are skipped.
  std::vector<Device*> virtual_memory = {};
  Bytes address_space{
      std::int64_t{1}
      << 36};  ///< With virtual memory: what is reserved for each chunk, and so its largest size.
  Bytes page_size{
      std::int64_t{2}
      << 20};  ///< With virtual memory: what is mapped at once. Rounded up to the granularity.
};

struct GraphAllocatorCounters {
  std::uint64_t plans = 0;    ///< Graphs planned and taken in.
  std::uint64_t replans = 0;  ///< Those of them that `allocate` planned by itself.
  std::uint64_t hits =
      0;  ///< Calls of `allocate` that a plan fitted and that changed nothing but perhaps the plan.
  std::uint64_t fits_smaller =
      0;  ///< Those that a plan fitted with other sizes or views than it served last.
  std::uint64_t refusals = 0;            ///< Calls of `allocate` that needed a reserve first.
  std::uint64_t buffer_allocations = 0;  ///< Buffers made, ranges of addresses too.
  std::uint64_t growths = 0;             ///< Calls that had to make buffers, or make some larger.
  Bytes bytes_returned = {};             ///< By `trim`.

  friend bool operator==(const GraphAllocatorCounters&, const GraphAllocatorCounters&) = default;
};

/// Gives every tensor of a graph an address in buffers of one or several types, by plans that it
/// makes and keeps. The equivalent of ggml_gallocr.
///
/// Memory i of a graph is served by type i; memories of the same type share one arena and its
/// buffers. A type's buffers are called chunks: one, or several where the type or the memory has a
/// largest size.
///
/// Plans are kept, and several graphs (prompt, decode, several batch sizes) share one set of
/// buffers, as large as the largest of them needs; only one is in use at a time. A plan serves
/// every graph that matches it where it matters: the same structure, flags and memories; sizes as
/// planned or smaller; each output that takes the place of an input still fits into it; views
/// anywhere in their bases, unless the plan relies on where they were. Names, kinds, dtypes and
/// shapes do not matter.
///
/// Not served (an address of no buffer): constants, variables and external tensors with their views
/// (see `allocate_all`), and tensors that nothing reads or writes. Sizes are the graph's: whoever
/// builds it adds what kernels read beyond the end of a tensor.
///
/// Every failure leaves plans, buffers and addresses as they were. Buffers that had to grow are
/// replaced: the new one is there before the old one goes. All work on them must be over by then,
/// and their content is lost. With virtual memory pages are added instead: nothing moves, nothing
/// is lost, and the old and the new are not needed at the same time.
///
/// Not thread-safe. Move-only. Types and devices outlive it.
class STOWAGE_EXPORT GraphAllocator {
 public:
  /// Precondition: at least one type, none null; the options make sense.
  explicit GraphAllocator(std::vector<BufferType*> types, GraphAllocatorOptions options = {});
  explicit GraphAllocator(BufferType& type, GraphAllocatorOptions options = {});
  ~GraphAllocator();
  GraphAllocator(GraphAllocator&& other) noexcept;
  GraphAllocator& operator=(GraphAllocator&& other) noexcept;

  /// Plans the graph, unless a plan fits it, and makes the buffers large enough; afterwards
  /// `allocate` of it, or of any graph that matches it, allocates nothing. Fails with `invalid`
  /// when the graph has more memories than there are types or cannot be aligned as the types ask or
  /// needs more than addresses (`Graph::needs_addresses_only`), and with `out_of_memory`, naming
  /// type and size, when there is no memory or a tensor is larger than the largest buffer, or
  /// naming the memory, when the capacity of the options is too small.
  Status reserve(const Graph& graph);

  /// The bytes that the graph alone needs, by type; 0 for a type that occurred earlier in the list.
  /// Allocates and keeps nothing. Where the base of a buffer is unaligned, it is larger by the
  /// alignment.
  Result<std::vector<Bytes>> reserve_sizes(const Graph& graph) const;

  /// The addresses of the graph. The pointer, and what it points to, are valid until the next call
  /// that is not const. Where no plan fits: with one type, plans and grows by itself (and fails as
  /// `reserve` does); with several, fails with `not_reserved`. When a plan fits, and last served a
  /// graph of the same sizes, this is one walk over the graph and allocates nothing. Buffers are
  /// reset (`Buffer::reset`).
  Result<const Allocation*> allocate(const Graph& graph);

  /// Returns what the last graph does not need: pages with virtual memory, else whole chunks. Its
  /// addresses stay. Larger graphs get memory again when they come. Fails where a device does; what
  /// was returned until then is.
  Status trim();

  /// Plans the graph for its own sizes, even though a plan for larger ones fits it, and returns
  /// what it does not need: for the time after a large graph. Addresses that were given out before
  /// are void. Fails as `reserve` and `trim` do.
  Status trim(const Graph& graph);

  /// The graph that the plans are about: memories by type, with the types' alignments and largest
  /// sizes. Of tensors that aliases hold together only the lowest gets a type's alignment; the
  /// others lie where it puts them.
  Result<Graph> as_served(const Graph& graph) const;

  /// Of all chunks of the type; 0 before `reserve`, and for a type that occurred earlier in the
  /// list.
  [[nodiscard]] Bytes buffer_size(std::size_t type) const;
  /// At least 1 once something is reserved, though it be of size 0; 0 where `buffer_size` is by
  /// rule.
  [[nodiscard]] std::size_t buffer_count(std::size_t type) const;
  /// Valid until a call makes buffers grow, or `trim`.
  [[nodiscard]] Buffer& buffer(std::size_t type, std::size_t chunk) const;

  /// Why the last graph was planned anew, or refused.
  [[nodiscard]] Replan last_replan() const;
  [[nodiscard]] const GraphAllocatorCounters& counters() const;
  /// How many plans are kept now.
  [[nodiscard]] std::size_t graph_count() const;

 private:
  class STOWAGE_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
