#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pack/stream_uses.hpp"
#include "stowage/pack.hpp"

/// What the solver `blocks` is made of: items become blocks, blocks are nested into each other. See blocks.cpp.
namespace stowage::pack {

/// Bytes that items use one after the other.
struct Block {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<std::uint32_t> items;  ///< Each comes before the next.
  Bytes size;                        ///< Of the largest item of its class, at least of its own items.
  Bytes alignment{1};
  std::uint32_t regions = 0;   ///< Which set of regions its items may go to, as a number; equal sets, equal numbers.
  std::uint32_t host = kNone;  ///< The block that it lies in, outside the use of that one and of all that it lies in.
  Bytes offset = {};           ///< There.
};

/// Which items of a problem are over before others begin. Pieces do not count: an item needs all of its bytes for all
/// of its life. O(1), with stream order O(streams).
class Sequence {
 public:
  explicit Sequence(const Problem& problem);

  [[nodiscard]] Interval life(std::size_t item) const { return lives_[item]; }
  [[nodiscard]] bool before(std::size_t item, std::size_t other) const {
    return problem_.order.empty() ? lives_[item].upper <= lives_[other].lower : uses_.before(item, other);
  }
  /// True when each item of one list comes before or after each of the other. Each list in order, as in a block.
  /// O(m log n), m the length of the shorter.
  [[nodiscard]] bool apart(std::span<const std::uint32_t> items, std::span<const std::uint32_t> others) const;

 private:
  const Problem& problem_;
  StreamUses uses_;
  std::vector<Interval> lives_;
};

/// Level 1. Items that are pinned or of size 0 are in no block.
[[nodiscard]] std::vector<Block> form_blocks(const Problem& problem, const Sequence& sequence, const ReuseKnobs& knobs);

/// Level 2: gives blocks a host. Where `stop` says so, those that were not looked at yet have none.
void nest_blocks(std::vector<Block>& blocks, const Sequence& sequence, const ReuseKnobs& knobs,
                 const std::function<bool()>& stop);

}  // namespace stowage::pack
