#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// TFLM's memory planner: where it puts the buffers that have no offset of their own. Buffers with an offset come
/// first; then those without, the largest first, of equal ones the last first, each at the lowest place where it fits
/// among what overlaps it in time. O(buffers²), as there.
namespace stowage::io::tflite {

struct TflmBuffer {
  std::int64_t size = 0;                    ///< A multiple of the arena's alignment.
  std::int64_t first = -1;                  ///< The first step at which it is needed.
  std::int64_t last = -1;                   ///< The last one; -1: none.
  std::optional<std::int64_t> offset = {};  ///< Given by a plan.
};

/// The bytes from the beginning of the arena to the highest end of a buffer.
[[nodiscard]] std::int64_t tflm_head(std::span<const TflmBuffer> buffers);

}  // namespace stowage::io::tflite
