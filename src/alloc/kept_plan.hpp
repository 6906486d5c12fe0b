#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alloc/buffer_set.hpp"
#include "alloc/plan_match.hpp"
#include "stowage/alloc/graph_allocator.hpp"

namespace stowage::alloc {

/// A plan with the pattern of graphs that it can serve, the buffers that it is bound to, and the addresses of the graph
/// that it served last.
class KeptPlan {
 public:
  /// `served` is `graph` with one memory per type, and `plan` is a plan for `served`. Serves `graph` once it is bound.
  KeptPlan(const Graph& graph, const Graph& served, Plan plan);

  [[nodiscard]] Match match(const Graph& graph) const {
    Match result = alloc::match(pattern_, graph, last_);
    result.unchanged = result.unchanged && allocation_.plan.graph == graph.name();
    return result;
  }
  /// The graph that it was planned for.
  [[nodiscard]] const Graph& graph() const { return pattern_.graph; }
  /// The sizes of all tensors of that graph.
  [[nodiscard]] Bytes total() const { return total_; }

  /// What it needs from each type, for any graph that it can serve.
  [[nodiscard]] const std::vector<Need>& needs() const { return needs_; }
  /// What it needs from each type for one graph that fits.
  [[nodiscard]] std::vector<Need> needs_of(const Graph& graph) const;

  /// Places its regions in these buffers; `version` is that of the buffer set.
  void bind(RegionBuffers buffers, std::uint64_t version);
  [[nodiscard]] bool is_bound(std::uint64_t version) const { return version_ == version; }
  /// States that the buffers are the same in `version` too.
  void keep_bound(std::uint64_t version) { version_ = version; }
  [[nodiscard]] const RegionBuffers& buffers() const { return buffers_; }
  /// By type and region: where the region ends in its buffer, for the graph served last.
  [[nodiscard]] std::vector<std::vector<Bytes>> ends() const;

  /// Serves a graph that fits, from now on. Allocates nothing, unless the graph's name is longer than all before.
  void serve(const Graph& graph);
  [[nodiscard]] const Allocation& allocation() const { return allocation_; }

 private:
  /// Calls `f(placement's arena, region, end)` for every tensor with a placement that is not a view, and every
  /// workspace.
  template <class F>
  void for_each_end(const Graph& graph, F&& f) const;
  void set_sizes(const Graph& graph);
  void set_arenas(const Graph& graph);
  void set_addresses();
  [[nodiscard]] Address address_of(ArenaId arena, std::uint32_t region, Bytes offset) const;

  Pattern pattern_;
  Bytes total_;
  std::vector<Arena> arenas_;            ///< As planned.
  std::vector<Extent> planned_;          ///< As planned.
  std::vector<Extent> last_;             ///< As last served.
  std::vector<std::size_t> workspaces_;  ///< By workspace placement of the plan: the index among all workspaces.
  std::vector<Need> needs_;
  RegionBuffers buffers_;
  std::uint64_t version_ = 0;
  Allocation allocation_;
};

}  // namespace stowage::alloc
