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
  Bytes alignment{1};  ///< Of every offset; sizes are rounded up to it. A power of two.
  std::optional<Bytes> max_chunk_size = {};  ///< Positive. Absent: one chunk without a limit.
  std::optional<std::size_t> max_chunks = {};
  Bytes capacity = kMaxBytes;            ///< Of all chunks together.
  Checks live_list = Checks::automatic;  ///< Whether to keep a list of what is allocated.
  /// Called at the end of each `allocate` that raises `max_size()`; may print `live()` then.
  std::function<void(const OffsetAllocator&)> on_peak = {};
};

/// Online best fit over offsets, with no memory behind them: which allocation lies where, and how
/// large buffers have to be. The equivalent of ggml_dyn_tallocr, without its limits on blocks and
/// chunks.
///
/// Offsets are grouped in chunks, each of which will be a buffer. An allocation never straddles
/// two. One that is larger than `max_chunk_size`, rounded, gets a chunk of its own size, where
/// others may follow once it is freed. A request is served from
///  1. the smallest inner free block that holds it, of all chunks; an inner block has something
///  allocated behind it;
///  2. the free tail of the chunk that `max_size` already pays for, the tightest of those;
///  3. the tail of the chunk that then grows by the least, among equals the one with the least
///  room;
///  4. a new chunk.
/// The first chunk, there the lowest offset, wins among equals. Inner blocks come first because
/// only a tail can be extended: kept whole, it serves a large request with little growth. So
/// `max_size` rises only when no free bytes below it would have done. First fit and segregated
/// lists are faster, but what counts here is the size of the buffers.
///
/// A value: copies are independent. O(log n) a call for n free blocks, allocations and chunks;
/// growth (3) adds a step for each chunk that has the room. Not thread-safe.
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

  /// Takes `size` bytes. Nothing, and no change, when they would need a chunk beyond `max_chunks`
  /// or bytes beyond `capacity`. Size 0 takes nothing, always succeeds and may lie in a chunk that
  /// does not exist. The name is for the live list. Precondition: 0 <= size <= kMaxBytes.
  [[nodiscard]] std::optional<ChunkOffset> allocate(Bytes size, std::string_view name = {});

  /// Gives an allocation back; `size` is the one it was made with. Size 0 does nothing. Fails with
  /// `invalid`, changing nothing, when any of these bytes is free already, and with a live list
  /// also when they are not exactly one allocation. Without one, a wrong call that names only bytes
  /// in use is not noticed.
  Status free(ChunkOffset place, Bytes size);

  /// Gives the end of an allocation back, so that it now has `to` bytes: what an output leaves over
  /// that takes the place of a larger input. Fails like `free`, and when `to` is negative or above
  /// `from`. To 0 it is `free`.
  Status shrink(ChunkOffset place, Bytes from, Bytes to);

  /// As if new: no allocations, no chunks, no peak. `on_peak` stays.
  void reset();

  [[nodiscard]] std::size_t chunk_count() const { return chunks_.size(); }
  /// What the buffer of that chunk must have: the most that its allocations ever reached since the
  /// last reset. 0 for a chunk that does not exist.
  [[nodiscard]] Bytes max_size(std::size_t chunk) const;
  /// Of all chunks together.
  [[nodiscard]] Bytes max_size() const { return max_size_; }
  /// Rounded sizes of all allocations.
  [[nodiscard]] Bytes in_use() const { return in_use_; }
  /// Inner ones. 0: every chunk is used without a gap, then free to its end.
  [[nodiscard]] std::size_t free_block_count() const { return inner_.size(); }
  [[nodiscard]] bool has_live_list() const { return has_live_list_; }
  /// By chunk and offset; empty without a live list. Allocations of size 0 are not in it.
  [[nodiscard]] std::vector<Live> live() const;

 private:
  struct Chunk {
    Bytes end;    ///< Everything from here on is free: the tail.
    Bytes limit;  ///< End of the tail.
    Bytes max_size;

    [[nodiscard]] Bytes room() const { return limit - end; }
    [[nodiscard]] Bytes paid_room() const { return max_size - end; }
  };
  using InnerBlocks = std::map<ChunkOffset, Bytes>;  ///< To the offset where the block ends.

  std::optional<ChunkOffset> take_inner(Bytes size);
  std::optional<ChunkOffset> take_tail(Bytes size);
  [[nodiscard]] std::optional<std::size_t> chunk_with_tail(Bytes size) const;
  std::optional<std::size_t> add_chunk(Bytes size);
  void move_end(std::size_t chunk, Bytes end);
  void insert_inner(ChunkOffset place, Bytes upper);
  void remove_inner(InnerBlocks::const_iterator block);
  /// Joins bytes in use with the free ones around them.
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
