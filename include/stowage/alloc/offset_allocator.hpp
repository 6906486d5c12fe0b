#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stowage/base.hpp"

namespace stowage {

class OffsetAllocator;

struct OffsetAllocatorOptions {
  Bytes alignment{1};  ///< Of every offset; sizes are rounded up to a multiple. A power of two.
  std::optional<Bytes> max_chunk_size = {};  ///< Positive. Absent: one chunk of any size.
  std::optional<std::size_t> max_chunks = {};
  Bytes capacity = kMaxBytes;            ///< Of all chunks together.
  Checks live_list = Checks::automatic;  ///< Whether to keep a list of what is allocated.
  /// Called at the end of each `allocate` that raises `max_size()`, for example to print `live()`.
  std::function<void(const OffsetAllocator&)> on_peak = {};
};

/// Online best-fit allocation of offsets, without memory: determines where each allocation lies and
/// how large the buffers must be. The equivalent of ggml_dyn_tallocr, without its limits on blocks
/// and chunks.
///
/// Offsets are grouped in chunks, each of which will be a buffer; an allocation lies within one
/// chunk. If its rounded size exceeds `max_chunk_size`, it gets a chunk of exactly that size, which
/// others may use once it is freed. A request is served from
/// 1. the smallest inner free block of any chunk that fits; an inner block has an allocation after
///    it;
/// 2. the tightest free tail of a chunk that does not raise `max_size`;
/// 3. the tail of the chunk that grows least, among equals the one with the least room;
/// 4. a new chunk.
///
/// Ties go to the first chunk, then to the lowest offset. Inner blocks come first because only a
/// tail can be extended: kept whole, it serves a large request with little growth. So `max_size`
/// rises only if no free block below it fits. First fit and segregated lists are faster, but give
/// larger buffers.
///
/// A value: copies are independent. O(log n) per call for n free blocks, allocations and chunks;
/// growth (3) adds a step for each chunk with enough room. Not thread-safe.
class STOWAGE_EXPORT OffsetAllocator {
 public:
  struct ChunkOffset {
    std::size_t chunk = 0;
    Bytes offset;

    friend auto operator<=>(const ChunkOffset&, const ChunkOffset&) = default;
  };

  struct Live {
    ChunkOffset place;
    Bytes size;  ///< As requested.
    std::string name;

    friend bool operator==(const Live&, const Live&) = default;
  };

  /// Preconditions: those stated at the options.
  explicit OffsetAllocator(OffsetAllocatorOptions options = {});

  /// Takes `size` bytes. Returns nothing, and changes nothing, if that would exceed `max_chunks` or
  /// `capacity`. Size 0 takes nothing, always succeeds and may lie in a chunk that does not exist.
  /// The name is for the live list. Precondition: 0 <= size <= kMaxBytes.
  [[nodiscard]] std::optional<ChunkOffset> allocate(Bytes size, std::string_view name = {});

  /// Frees an allocation; `size` must be the one it was made with. Size 0 does nothing. Fails with
  /// `invalid`, changing nothing, if any of these bytes is already free or, with a live list, if
  /// they are not exactly one allocation. Without a live list, a wrong call that names only bytes
  /// in use is not detected.
  Status free(ChunkOffset place, Bytes size);

  /// Frees the end of an allocation, so that `to` bytes remain: for an output that is computed in
  /// place of a larger input. Fails like `free`, and if `to` is negative or above `from`. `to` = 0
  /// is `free`.
  Status shrink(ChunkOffset place, Bytes from, Bytes to);

  /// Resets to the initial state: no allocations, no chunks, no peak. The options stay.
  void reset();

  [[nodiscard]] std::size_t chunk_count() const { return chunks_.size(); }
  /// The size that the buffer of a chunk must have: the highest end of an allocation since the last
  /// reset. 0 for a chunk that does not exist.
  [[nodiscard]] Bytes max_size(std::size_t chunk) const;
  /// Of all chunks together.
  [[nodiscard]] Bytes max_size() const { return max_size_; }
  /// The rounded sizes of all allocations.
  [[nodiscard]] Bytes in_use() const { return in_use_; }
  /// The number of inner free blocks. 0: no chunk is fragmented.
  [[nodiscard]] std::size_t free_block_count() const { return inner_.size(); }
  [[nodiscard]] bool has_live_list() const { return has_live_list_; }
  /// The current allocations by chunk and offset, without those of size 0; empty without a live
  /// list.
  [[nodiscard]] std::vector<Live> live() const;

 private:
  struct Chunk {
    Bytes end;    ///< Start of the free tail.
    Bytes limit;  ///< End of the tail.
    Bytes max_size;

    [[nodiscard]] Bytes room() const { return limit - end; }
    [[nodiscard]] Bytes paid_room() const { return max_size - end; }
  };
  using InnerBlocks = std::map<ChunkOffset, Bytes>;  ///< To the end of the block.

  std::optional<ChunkOffset> take_inner(Bytes size);
  std::optional<ChunkOffset> take_tail(Bytes size);
  [[nodiscard]] std::optional<std::size_t> chunk_with_tail(Bytes size) const;
  std::optional<std::size_t> add_chunk(Bytes size);
  void move_end(std::size_t chunk, Bytes end);
  void insert_inner(ChunkOffset place, Bytes upper);
  void remove_inner(InnerBlocks::const_iterator block);
  /// Frees bytes in use and joins them with adjacent free ones.
  void release(ChunkOffset place, Bytes upper);
  [[nodiscard]] Status check_in_use(ChunkOffset place, Bytes size) const;
  [[nodiscard]] Status check_live(ChunkOffset place, Bytes size) const;

  OffsetAllocatorOptions options_;
  bool has_live_list_;
  std::vector<Chunk> chunks_;
  InnerBlocks inner_;
  std::set<std::pair<Bytes, ChunkOffset>> inner_by_size_;
  std::set<std::pair<Bytes, std::size_t>> tails_by_room_;
  std::set<std::pair<Bytes, std::size_t>> tails_by_paid_room_;
  std::map<ChunkOffset, Live> live_;
  Bytes max_size_;
  Bytes in_use_;
};

/// "kq [0, 4096) of chunk 0".
[[nodiscard]] STOWAGE_EXPORT std::string to_string(const OffsetAllocator::Live& live);

}  // namespace stowage
