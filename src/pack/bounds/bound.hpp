#pragma once

#include <vector>

#include "stowage/plan.hpp"

/// The arguments that `lower_bound` combines, and what they share. Each returns the better of its own certificate and
/// the given one, so that arguments that cannot win are skipped early.
namespace stowage::pack {

/// Bytes that one item occupies during some steps, at whatever address: a piece. Chunks that are live at the same step
/// in the same region are disjoint, unless their items are joined.
struct Chunk {
  std::size_t item;
  Interval when;
  ByteRange bytes;  ///< Relative to the item.

  /// The largest power of two, at most the item's alignment, that always divides the chunk's address.
  [[nodiscard]] Bytes alignment(const Problem& problem) const;
};

/// Appends the chunks of an item that are not empty.
void append_chunks(const Problem& problem, std::size_t item, std::vector<Chunk>& chunks);

/// Makes all chunks disjoint: of two that joins let share bytes, the later one begins only after the steps that they
/// share.
void separate_joined(const Problem& problem, std::vector<Chunk>& chunks);

/// A begin or an end of a chunk.
struct ChunkEvent {
  Step step;
  bool begins;
  std::size_t chunk;
};

/// The events of all chunks in order; at equal steps ends come first. O(n log n).
[[nodiscard]] std::vector<ChunkEvent> events_of(const std::vector<Chunk>& chunks);

/// Whether the item may go to an unpaid region.
[[nodiscard]] bool may_evade(const Problem& problem, const Item& item);

/// Chunks that always start at a multiple of `a` take whole multiples of `a` bytes. So at each step the bound is the
/// sum of their sizes, each rounded up, minus the padding of the last one in each paid region. Items that may go to an
/// unpaid region are not counted. O(alignments × pieces log pieces), and O(pieces) when every size is a multiple of its
/// alignment.
[[nodiscard]] Certificate aligned_offsets_bound(const Problem& problem, Certificate best);

/// At each step, pinned items divide the region into gaps. Chunks of at least some size can use only gaps of at least
/// that size, from the first offset that their smallest alignment allows. The bound is the height at which these gaps
/// have room for all of them. Looks at the `kGapSteps` most promising steps. Does nothing for several regions.
/// O(kGapSteps × pieces + pieces log pieces).
[[nodiscard]] Certificate pinned_gaps_bound(const Problem& problem, Certificate best);
inline constexpr std::size_t kGapSteps = 32;

}  // namespace stowage::pack
