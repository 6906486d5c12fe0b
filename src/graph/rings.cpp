#include "graph/rings.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace stowage {
namespace {

/// One pool while its slots are given out.
struct Ring {
  struct Rest {
    std::size_t slot;
    Bytes upper;
  };
  Bytes next;
  std::map<Bytes, Rest> occupants;  ///< By their first byte: what nobody took yet. They do not overlap.
};

/// Gives `bytes` to a new slot; returns whose they were. O(log n) for each of them.
std::vector<std::size_t> take(Ring& ring, ByteRange bytes, std::size_t slot) {
  std::vector<std::size_t> evicted;
  if (bytes.empty()) return evicted;
  auto at = ring.occupants.lower_bound(bytes.lower);
  if (at != ring.occupants.begin() && std::prev(at)->second.upper > bytes.lower) --at;
  while (at != ring.occupants.end() && at->first < bytes.upper) {
    const auto [lower, rest] = *at;
    evicted.push_back(rest.slot);
    at = ring.occupants.erase(at);
    if (lower < bytes.lower) ring.occupants.emplace(lower, Ring::Rest{rest.slot, bytes.lower});
    if (bytes.upper < rest.upper) ring.occupants.emplace(bytes.upper, Ring::Rest{rest.slot, rest.upper});
  }
  ring.occupants.emplace(bytes.lower, Ring::Rest{slot, bytes.upper});
  std::sort(evicted.begin(), evicted.end());
  evicted.erase(std::unique(evicted.begin(), evicted.end()), evicted.end());
  return evicted;
}

void place(const Graph& graph, std::vector<RingSlot>& slots, Ring& ring, RingSlot slot) {
  const Bytes alignment = graph.alignment(slot.tensor);
  const Bytes pool = graph.pools()[slot.pool.index()].size;
  const Bytes wanted = align_up(ring.next, alignment);
  slot.size = std::min(align_up(graph.tensor(slot.tensor).size, alignment), pool);
  slot.offset = wanted + graph.tensor(slot.tensor).size <= pool ? wanted : Bytes(0);
  ring.next = slot.offset + graph.tensor(slot.tensor).size;
  slot.evicted = take(ring, {slot.offset, ring.next}, slots.size());
  slots.push_back(std::move(slot));
}

}  // namespace

std::vector<RingSlot> place_rings(const Graph& graph) {
  std::vector<RingSlot> slots;
  std::vector<Ring> rings(graph.pools().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (!op.prefetch) continue;
    for (const TensorId output : op.outputs)
      place(graph, slots, rings[op.prefetch->index()], {output, OpId(k), *op.prefetch, {}, {}, {}});
  }
  return slots;
}

}  // namespace stowage
