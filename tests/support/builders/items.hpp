#pragma once

#include "stowage/plan.hpp"

/// Items and pieces from plain numbers, so that a test shows its problem directly.
namespace stowage::testing {

[[nodiscard]] inline Piece piece(std::int64_t begin, std::int64_t end, std::int64_t lower, std::int64_t upper) {
  return {{Step(begin), Step(end)}, {Bytes(lower), Bytes(upper)}};
}
/// One piece: all of its bytes for all of its life.
[[nodiscard]] inline Item item(std::int64_t begin, std::int64_t end, std::int64_t size) {
  return {.pieces = {piece(begin, end, 0, size)}, .size = Bytes(size)};
}
[[nodiscard]] inline Item pinned(Item item, std::int64_t offset) {
  item.pinned = Bytes(offset);
  return item;
}
[[nodiscard]] inline Item aligned(Item item, std::int64_t alignment) {
  item.alignment = Bytes(alignment);
  return item;
}

}  // namespace stowage::testing
