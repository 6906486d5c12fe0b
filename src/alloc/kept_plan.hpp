#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "alloc/buffer_set.hpp"
#include "alloc/callers.hpp"
#include "alloc/plan_match.hpp"
#include "alloc/served_graph.hpp"
#include "stowage/alloc/graph_allocator.hpp"

namespace stowage::alloc {

/// The buffer types that serve a graph.
struct TypesOf {
  std::span<BufferType* const> types;      ///< Without duplicates.
  std::span<const std::size_t> by_memory;  ///< By memory of the graph: the index in `types`.
};

/// A plan with the pattern of graphs that it can serve, the buffers that it is bound to, and the addresses of the graph
/// that it served last.
///
/// Lists of chunks are numbered: first one per type, for shared memory and rings (which are regions after the shared
/// ones), then one per type for session memory.
class KeptPlan {
 public:
  /// `served` is `graph` as the types serve it, and `plan` is a plan for that. Serves `graph` once it is bound.
  KeptPlan(const Graph& graph, const ServedGraph& served, Plan plan, const TypesOf& types);

  [[nodiscard]] Match match(const Graph& graph) const {
    Match result = alloc::match(pattern_, graph, last_);
    result.unchanged = result.unchanged && allocation_.plan.graph == graph.name();
    return result;
  }
  /// The graph that it was planned for.
  [[nodiscard]] const Graph& graph() const { return pattern_.graph; }
  /// The sizes of all tensors of that graph.
  [[nodiscard]] Bytes total() const { return total_; }

  /// What it needs from each list, for any graph that it can serve.
  [[nodiscard]] const std::vector<Need>& needs() const { return needs_; }
  /// What it needs from each list for one graph that fits.
  [[nodiscard]] std::vector<Need> needs_of(const Graph& graph) const;
  /// What it needs for itself, from a type.
  [[nodiscard]] Bytes fixed_size(std::size_t type) const;
  /// Whether an op of fixed address has session workspaces of a type.
  [[nodiscard]] bool pins_session(std::size_t type) const { return pins_session_[type]; }

  /// Makes the buffers that belong to this plan alone and never move. Fails as their types do.
  Status make_fixed(std::span<BufferType* const> types);
  [[nodiscard]] const std::vector<std::unique_ptr<Buffer>>& fixed() const { return fixed_; }

  /// Places its regions in these buffers of the set.
  void bind(RegionBuffers buffers, const BufferSet& set);
  [[nodiscard]] bool is_bound(std::uint64_t version) const { return version_ == version; }
  /// States that the buffers are the same in `version` too.
  void keep_bound(std::uint64_t version) { version_ = version; }
  [[nodiscard]] const RegionBuffers& buffers() const { return buffers_; }
  /// By list and region: where the region ends in its buffer, for the graph served last.
  [[nodiscard]] std::vector<std::vector<Bytes>> ends() const;

  /// As `GraphAllocator::bind`, for the graph served last.
  Status bind(std::span<const BoundMemory> memories, std::span<const AddressRange> taken);

  /// Serves a graph that fits, from now on. Allocates nothing, unless the graph's name is longer than all before.
  void serve(const Graph& graph);
  [[nodiscard]] const Allocation& allocation() const { return allocation_; }

 private:
  /// Where the memory of an arena comes from.
  struct Source {
    enum class Origin : std::uint8_t {
      list,    ///< Chunks of list `index`, from region `first` on.
      fixed,   ///< `fixed_`, from `first` on.
      caller,  ///< The caller's buffer for a binding.
      none,    ///< Persistent memory: what the caller binds.
    };
    Origin origin = Origin::none;
    std::size_t index = 0;
    std::size_t first = 0;
    Buffer* buffer = nullptr;  ///< For `caller`.
  };
  /// Where a bound tensor lies in persistent memory.
  struct KeptPlace {
    ArenaId arena;
    std::uint32_t region = 0;
    ByteRange bytes;
    Address address;
  };
  struct FixedNeed {
    std::size_t type = 0;
    Bytes size;
    Bytes alignment{1};
  };

  void find_sources(const ServedGraph& served, const Plan& plan, std::span<BufferType* const> types);
  /// Calls `f(placement's arena, region, end)` for every tensor with a placement that is not a view, and every
  /// workspace.
  template <class F>
  void for_each_end(const Graph& graph, F&& f) const;
  void set_sizes(const Graph& graph);
  void set_arenas(const Graph& graph);
  void set_addresses();
  void set_bound_addresses();
  void find_kept_places();
  [[nodiscard]] Address kept_address(ArenaId arena, std::uint32_t region, Bytes offset) const;
  [[nodiscard]] Address address_of(ArenaId arena, std::uint32_t region, Bytes offset) const;
  [[nodiscard]] Bytes alignment_in(std::size_t list) const;

  Pattern pattern_;
  Graph served_now_;  ///< The graph served last.
  Bytes total_;
  std::vector<Arena> arenas_;            ///< As planned.
  std::vector<Source> sources_;          ///< By arena.
  std::vector<Extent> planned_;          ///< As planned.
  std::vector<Extent> last_;             ///< As last served.
  std::vector<std::size_t> workspaces_;  ///< By workspace placement of the plan: the index among all workspaces.
  std::vector<Need> needs_;              ///< By list.
  std::vector<FixedNeed> fixed_needs_;
  std::vector<bool> pins_session_;  ///< By type.
  std::vector<std::unique_ptr<Buffer>> fixed_;
  Callers callers_;
  std::vector<KeptPlace> kept_places_;
  RegionBuffers buffers_;
  std::vector<Bytes> session_alignments_;  ///< By type, of the addresses where its session memory begins.
  std::uint64_t version_ = 0;
  Allocation allocation_;
};

}  // namespace stowage::alloc
