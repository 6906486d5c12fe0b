#include "graph/rings.hpp"

#include <algorithm>

namespace stowage {
namespace {

/// One pool while its slots are given out.
struct Ring {
  Bytes next;
  struct Rest {
    std::size_t slot;
    ByteRange bytes;  ///< What nobody took yet.
  };
  std::vector<Rest> occupants;
};

/// What is left of `bytes` without `taken`.
std::vector<ByteRange> without(ByteRange bytes, ByteRange taken) {
  std::vector<ByteRange> left;
  if (bytes.lower < taken.lower) left.push_back({bytes.lower, std::min(bytes.upper, taken.lower)});
  if (taken.upper < bytes.upper) left.push_back({std::max(bytes.lower, taken.upper), bytes.upper});
  return left;
}

/// Gives `bytes` to a new slot; returns whose they were.
std::vector<std::size_t> evict(Ring& ring, ByteRange bytes) {
  std::vector<std::size_t> evicted;
  std::vector<Ring::Rest> left;
  for (const Ring::Rest& occupant : ring.occupants) {
    if (!occupant.bytes.overlaps(bytes)) {
      left.push_back(occupant);
      continue;
    }
    if (evicted.empty() || evicted.back() != occupant.slot) evicted.push_back(occupant.slot);
    for (const ByteRange& rest : without(occupant.bytes, bytes)) left.push_back({occupant.slot, rest});
  }
  ring.occupants = std::move(left);
  return evicted;
}

void place(const Graph& graph, std::vector<RingSlot>& slots, Ring& ring, RingSlot slot) {
  const Bytes alignment = graph.alignment(slot.tensor);
  const Bytes pool = graph.pools()[slot.pool.index()].size;
  const Bytes wanted = align_up(ring.next, alignment);
  slot.size = std::min(align_up(graph.tensor(slot.tensor).size, alignment), pool);
  slot.offset = wanted + graph.tensor(slot.tensor).size <= pool ? wanted : Bytes(0);
  ring.next = slot.offset + graph.tensor(slot.tensor).size;
  const ByteRange bytes{slot.offset, ring.next};
  slot.evicted = evict(ring, bytes);
  ring.occupants.push_back({slots.size(), bytes});
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
