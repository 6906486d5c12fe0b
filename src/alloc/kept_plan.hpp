#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alloc/buffer_set.hpp"
#include "alloc/plan_match.hpp"
#include "stowage/alloc/graph_allocator.hpp"

namespace stowage::alloc {

/// A plan that is kept, with the graphs that it can serve, the buffers that it is bound to, and the addresses of the
/// graph that it served last.
class KeptPlan {
 public:
  /// `served` is `graph` with one memory a type; `plan` is for that. Serves `graph` as soon as it is bound.
  KeptPlan(const Graph& graph, const Graph& served, Plan plan);

  [[nodiscard]] Match match(const Graph& graph) const {
    Match result = alloc::match(pattern_, graph, last_);
    result.unchanged = result.unchanged && allocation_.plan.graph == graph.name();
    return result;
  }
  /// What it was planned for.
  [[nodiscard]] const Graph& graph() const { return pattern_.graph; }
  /// The sizes of all tensors that it was planned for.
  [[nodiscard]] Bytes total() const { return total_; }

  /// What it asks of each type, for any graph that it can serve.
  [[nodiscard]] const std::vector<Need>& needs() const { return needs_; }
  /// The same for a graph that fits.
  [[nodiscard]] std::vector<Need> needs_of(const Graph& graph) const;

  /// From now on regions lie in these buffers, as of that version of the set.
  void bind(RegionBuffers buffers, std::uint64_t version);
  [[nodiscard]] bool is_bound(std::uint64_t version) const { return version_ == version; }
  /// The buffers are the same in that version too.
  void keep_bound(std::uint64_t version) { version_ = version; }
  [[nodiscard]] const RegionBuffers& buffers() const { return buffers_; }
  /// Where regions end in their buffers for the graph served last, by type and region.
  [[nodiscard]] std::vector<std::vector<Bytes>> ends() const;

  /// From now on serves a graph that fits. Allocates nothing, unless its name is longer than those before.
  void serve(const Graph& graph);
  [[nodiscard]] const Allocation& allocation() const { return allocation_; }

 private:
  /// Calls `f(placement's arena, region, end)` for everything that the graph places on its own.
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
  std::vector<Extent> last_;             ///< As served last.
  std::vector<std::size_t> workspaces_;  ///< By workspace placement of the plan: which of all workspaces it is.
  std::vector<Need> needs_;
  RegionBuffers buffers_;
  std::uint64_t version_ = 0;
  Allocation allocation_;
};

}  // namespace stowage::alloc
