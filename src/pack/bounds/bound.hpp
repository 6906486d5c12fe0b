#pragma once

#include <vector>

#include "stowage/plan.hpp"

/// The arguments that `lower_bound` is made of, and what they share. Each returns the better of its own certificate and
/// the one that it is given, so that what cannot win is skipped early.
namespace stowage::pack {

/// Bytes that one item occupies during some steps, wherever they lie: a piece, or with stream order, where items
/// conflict as a whole, the whole item during its life. Chunks that are live at the same step are disjoint if they are
/// in the same region.
struct Chunk {
  std::size_t item;
  Interval when;
  ByteRange bytes;  ///< In the item.

  /// The largest power of two up to the item's alignment that the chunk's address is always a multiple of.
  [[nodiscard]] Bytes alignment(const Problem& problem) const;
};

/// Those of an item that are not empty.
void append_chunks(const Problem& problem, std::size_t item, std::vector<Chunk>& chunks);

/// A begin or an end of a chunk.
struct ChunkEvent {
  Step step;
  bool begins;
  std::size_t chunk;
};

/// All of them in order; at equal steps ends come first. O(n log n).
[[nodiscard]] std::vector<ChunkEvent> events_of(const std::vector<Chunk>& chunks);

/// Whether the item may go to a region that does not count.
[[nodiscard]] bool may_evade(const Problem& problem, const Item& item);

/// Chunks that always start at a multiple of `a` take whole multiples of `a` bytes: at each step their sizes, each
/// rounded up, less what the last one in each paid region may stick out by. Not counted: what may evade. O(alignments ×
/// pieces log pieces), and O(pieces) when every size is a multiple of its alignment.
[[nodiscard]] Certificate aligned_offsets_bound(const Problem& problem, Certificate best);

/// At each step, pinned items cut the one region into gaps. The chunks of at least some size use only gaps of at least
/// that size, from where their least alignment lets them start; the height at which these gaps have room for all of
/// them. Looks at the `kGapSteps` steps that promise most. Nothing for several regions. O(kGapSteps × pieces + pieces
/// log pieces).
[[nodiscard]] Certificate pinned_gaps_bound(const Problem& problem, Certificate best);
inline constexpr std::size_t kGapSteps = 32;

}  // namespace stowage::pack
