#include "graph/rings.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace stowage {
namespace {

/// The state of one ring while its ranges are assigned.
struct RingState {
  struct Rest {
    std::size_t range;
    Bytes upper;
  };
  Bytes next;
  std::map<Bytes, Rest> occupants;  ///< By first byte: the parts not overwritten yet, disjoint.
};

/// Assigns `bytes` to a new range and returns the ranges that owned some of them. O(log n) per range.
std::vector<std::size_t> take(RingState& ring, ByteRange bytes, std::size_t range) {
  std::vector<std::size_t> evicted;
  if (bytes.empty()) return evicted;
  auto at = ring.occupants.lower_bound(bytes.lower);
  if (at != ring.occupants.begin() && std::prev(at)->second.upper > bytes.lower) --at;
  while (at != ring.occupants.end() && at->first < bytes.upper) {
    const auto [lower, rest] = *at;
    evicted.push_back(rest.range);
    at = ring.occupants.erase(at);
    if (lower < bytes.lower) ring.occupants.emplace(lower, RingState::Rest{rest.range, bytes.lower});
    if (bytes.upper < rest.upper) ring.occupants.emplace(bytes.upper, RingState::Rest{rest.range, rest.upper});
  }
  ring.occupants.emplace(bytes.lower, RingState::Rest{range, bytes.upper});
  std::sort(evicted.begin(), evicted.end());
  evicted.erase(std::unique(evicted.begin(), evicted.end()), evicted.end());
  return evicted;
}

void place(const Graph& graph, std::vector<RingRange>& ranges, RingState& ring, RingRange range) {
  const Bytes alignment = graph.alignment(range.tensor);
  const Bytes whole = graph.rings()[range.ring.index()].size;
  const Bytes wanted = align_up(ring.next, alignment);
  range.size = std::min(align_up(graph.tensor(range.tensor).size, alignment), whole);
  range.offset = wanted + graph.tensor(range.tensor).size <= whole ? wanted : Bytes(0);
  ring.next = range.offset + graph.tensor(range.tensor).size;
  range.evicted = take(ring, {range.offset, ring.next}, ranges.size());
  ranges.push_back(std::move(range));
}

}  // namespace

std::vector<RingRange> place_rings(const Graph& graph) {
  std::vector<RingRange> ranges;
  std::vector<RingState> rings(graph.rings().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (!op.prefetch) continue;
    for (const TensorId output : op.outputs)
      place(graph, ranges, rings[op.prefetch->index()], {output, OpId(k), *op.prefetch, {}, {}, {}});
  }
  return ranges;
}

}  // namespace stowage
