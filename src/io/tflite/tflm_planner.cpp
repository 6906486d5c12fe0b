#include "io/tflite/tflm_planner.hpp"

#include <algorithm>

#include "base/interface/sort_stably.hpp"

namespace stowage::io::tflite {
namespace {

struct Placed {
  std::int64_t offset;
  const TflmBuffer* buffer;
};

/// `placed` is sorted by offset.
std::int64_t lowest_place(const std::vector<Placed>& placed, const TflmBuffer& wanted) {
  std::int64_t offset = 0;
  for (const Placed& other : placed) {
    if (other.buffer->first > wanted.last || wanted.first > other.buffer->last) continue;
    if (other.offset - offset >= wanted.size) break;
    offset = std::max(offset, other.offset + other.buffer->size);
  }
  return offset;
}

std::vector<const TflmBuffer*> in_order_of_placement(std::span<const TflmBuffer> buffers) {
  std::vector<const TflmBuffer*> order;
  std::vector<const TflmBuffer*> free;
  for (const TflmBuffer& buffer : buffers) (buffer.offset ? order : free).push_back(&buffer);
  std::reverse(free.begin(), free.end());
  sort_stably(free, [](const TflmBuffer* a, const TflmBuffer* b) { return a->size > b->size; });
  order.insert(order.end(), free.begin(), free.end());
  return order;
}

}  // namespace

std::int64_t tflm_head(std::span<const TflmBuffer> buffers) {
  std::vector<Placed> placed;
  std::int64_t head = 0;
  for (const TflmBuffer* const buffer : in_order_of_placement(buffers)) {
    const std::int64_t offset = buffer->offset ? *buffer->offset : lowest_place(placed, *buffer);
    const auto after = std::upper_bound(placed.begin(), placed.end(), offset,
                                        [](std::int64_t value, const Placed& other) { return value < other.offset; });
    placed.insert(after, {offset, buffer});
    head = std::max(head, offset + buffer->size);
  }
  return head;
}

}  // namespace stowage::io::tflite
