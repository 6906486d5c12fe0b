#include <algorithm>
#include <numeric>
#include <queue>

#include "base/interface/free_list.hpp"
#include "pack/greedy/greedy.hpp"
#include "pack/greedy/ordered_walk.hpp"

/// Online best fit, what ggml's allocator does: walk through time, give each item the tightest gap when it begins and
/// its bytes back when it ends. For items of one piece in one region a free list does that in O(n log n), whatever the
/// number of overlapping pairs, and with stream order a list of last owners does it (ordered_walk.hpp). Pins, several
/// pieces and limits need to know what is still to come; there the general greedy placement in the same order and by
/// the same rule takes over, with the same answer where both apply.
namespace stowage::pack {
namespace {

/// Bytes in use until a step.
struct InUse {
  Step until;
  ByteRange bytes;
  friend bool operator>(const InUse& a, const InUse& b) { return a.until > b.until; }
};

std::vector<Position> walk(const Problem& problem) {
  std::vector<Position> positions(problem.items.size());
  std::priority_queue<InUse, std::vector<InUse>, std::greater<>> in_use;
  FreeList free;
  for (const std::size_t index : in_order(problem, PlacementOrder::begin)) {
    const Item& item = problem.items[index];
    const Interval when = item.pieces.front().when;
    for (; !in_use.empty() && in_use.top().until <= when.lower; in_use.pop()) free.release(in_use.top().bytes);
    if (item.size == Bytes(0)) continue;
    const Bytes offset = free.allocate(item.size, item.alignment);
    // Bytes of the item that its piece leaves out are not in use at any time.
    in_use.push({when.upper, {offset, offset + item.size}});
    positions[index].offset = offset;
  }
  return positions;
}

}  // namespace

void solve_online_best_fit(Bench& bench) {
  std::optional<std::vector<Position>> positions = is_plain(bench.problem()) ? walk(bench.problem())
                                                   : can_walk_ordered(bench.problem())
                                                       ? walk_ordered(bench.problem())
                                                       : place_greedily(bench, PlacementOrder::begin, Fit::tightest);
  if (positions) bench.offer(std::move(*positions), "online_best_fit");
}

}  // namespace stowage::pack
