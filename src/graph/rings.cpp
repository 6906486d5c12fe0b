#include "graph/rings.hpp"

#include <algorithm>

namespace stowage {
namespace {

/// One pool while its slots are given out.
struct Ring {
  Bytes next;
  std::vector<std::size_t> occupants;  ///< Slots whose bytes nobody took yet.
};

void place(const Graph& graph, std::vector<RingSlot>& slots, Ring& ring, RingSlot slot) {
  const Bytes alignment = graph.alignment(slot.tensor);
  const Bytes pool = graph.pools()[slot.pool.index()].size;
  const Bytes wanted = align_up(ring.next, alignment);
  slot.size = std::min(align_up(graph.tensor(slot.tensor).size, alignment), pool);
  slot.offset = wanted + graph.tensor(slot.tensor).size <= pool ? wanted : Bytes(0);
  ring.next = slot.offset + graph.tensor(slot.tensor).size;
  const ByteRange bytes{slot.offset, ring.next};
  std::erase_if(ring.occupants, [&](std::size_t occupant) {
    const RingSlot& other = slots[occupant];
    if (!bytes.overlaps({other.offset, other.offset + graph.tensor(other.tensor).size})) return false;
    slot.evicted.push_back(occupant);
    return true;
  });
  ring.occupants.push_back(slots.size());
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
