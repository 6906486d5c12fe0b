#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pack/stream_uses.hpp"
#include "stowage/pack.hpp"

/// The parts of the solver `blocks`: items become blocks, and blocks are nested into each other. See blocks.cpp.
namespace stowage::pack {

/// Bytes that items use one after the other.
struct Block {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<std::uint32_t> items;  ///< Each comes before the next.
  Bytes size;                        ///< Of the largest item of its size class; at least as large as its own items.
  Bytes alignment{1};
  /// The number of the set of regions that its items may use; equal sets have equal numbers.
  std::uint32_t regions = 0;
  /// The block that contains it. It is used only while that block, and all blocks around it, are unused.
  std::uint32_t host = kNone;
  Bytes offset = {};  ///< Relative to the host.
};

/// Which items of a problem end before others begin. Pieces are ignored: an item needs all of its bytes for all of its
/// life. O(1), with stream order O(streams).
class Sequence {
 public:
  explicit Sequence(const Problem& problem);

  [[nodiscard]] Interval life(std::size_t item) const { return lives_[item]; }
  [[nodiscard]] bool before(std::size_t item, std::size_t other) const {
    return problem_.order.empty() ? lives_[item].upper <= lives_[other].lower : uses_.before(item, other);
  }
  /// True when each item of one list comes before or after each item of the other. Both lists must be in order, as in a
  /// block. O(m log n), where m is the length of the shorter list.
  [[nodiscard]] bool apart(std::span<const std::uint32_t> items, std::span<const std::uint32_t> others) const;

 private:
  const Problem& problem_;
  StreamUses uses_;
  std::vector<Interval> lives_;
};

/// Level 1. Pinned items and items of size 0 are in no block.
[[nodiscard]] std::vector<Block> form_blocks(const Problem& problem, const Sequence& sequence, const ReuseKnobs& knobs);

/// Level 2: gives blocks a host. When `stop` returns true, the remaining blocks get none.
void nest_blocks(std::vector<Block>& blocks, const Sequence& sequence, const ReuseKnobs& knobs,
                 const std::function<bool()>& stop);

}  // namespace stowage::pack
