#include <algorithm>
#include <numeric>
#include <queue>

#include "base/interface/free_list.hpp"
#include "pack/greedy/greedy.hpp"
#include "pack/greedy/ordered_walk.hpp"

/// Online best fit, as ggml's allocator does it: walks through time, gives each item the tightest gap when it begins,
/// and frees its bytes when it ends. For items of one piece in one region, a free list does that in O(n log n),
/// independent of the number of overlapping pairs; with stream order, a list of last owners does it (ordered_walk.hpp).
/// Pins, several pieces and limits require knowledge of later items; for these the general greedy placement is used, in
/// the same order and by the same rule. Both give the same answer where both apply.
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
