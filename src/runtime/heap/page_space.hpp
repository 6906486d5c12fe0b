#pragma once

#include <functional>
#include <memory>
#include <span>

#include "runtime/heap/expandable_arena.hpp"
#include "runtime/heap/idle_map.hpp"
#include "runtime/heap/page_uses.hpp"
#include "runtime/heap/span_heap.hpp"
#include "runtime/heap/stitch_cache.hpp"
#include "runtime/heap/unpaged_memory.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

struct SpaceOptions {
  Bytes alignment{512};
  Bytes least_page{std::int64_t{2} << 20};
  /// Pages are about this part of what is reserved: a large request is stitched of tens of pages rather than of
  /// thousands, and a page that is not quite full costs little.
  std::int64_t pages = 256;
  /// Stitches show at most this many times what is reserved.
  std::int64_t stitches = 4;
  std::optional<Bytes> limit = {};  ///< Of unpaged buffers; a pool has its own.
};

/// A heap as the space that it lives in sees it.
struct Tenant {
  SpanHeap* books = nullptr;
  StreamId stream;
};

/// A request that fits no idle span of its heap, and what is idle in all heaps while it is served: looked for once, and
/// kept up to date as memory grows.
struct Miss {
  /// `tenants` are all heaps that may give to it, the one that asks first; they outlive it.
  Miss(Bytes rounded, Bytes asked, std::span<const Tenant> heaps);

  [[nodiscard]] SpanHeap& heap() const { return *tenants.front().books; }

  Bytes size;  ///< Rounded.
  Bytes requested;
  std::span<const Tenant> tenants;
  IdleMap idle;
  std::optional<PageUses> uses = {};  ///< Of `idle`; absent until somebody asks, and again when memory has grown.
};

/// The memory that the heaps of a device's streams share: pages at fixed addresses, and stitches of them. Every byte is
/// in the books of one heap. Bytes that are idle in one may become another's where they lie, with no call but the wait
/// of a stream for the other; so pages are mapped once, and what is idle anywhere counts for everyone. A device without
/// virtual memory, or one that refuses addresses from the start, gives unpaged buffers instead; then there are no
/// stitches.
///
/// Most calls below are for a `Miss`; nobody else uses the heaps' books meanwhile. Policy, that is when to do which, is
/// `serve`'s. Not thread-safe, except for `end_use`.
class PageSpace {
 public:
  PageSpace(Device& device, PhysicalPool* pool, const SpaceOptions& options);

  /// A page's size for growth by that many bytes.
  [[nodiscard]] Bytes page_size(Bytes growth) const;
  /// What must be added so that an idle run of the size ends it.
  [[nodiscard]] Bytes shortfall(const Miss& miss) const;
  /// What idle pages have. 0 without pages.
  [[nodiscard]] Bytes idle_pages(Miss& miss) const;
  [[nodiscard]] Bytes idle_pages(const IdleMap& idle) const;

  /// At least that many bytes more for the heap that asks, in pages as large as `page_size` says or, where memory is
  /// short, smaller ones. Fails at once where they are out of reach. After another failure what came before it stays.
  Status grow(Bytes least, Miss& miss);

  /// From the tightest run of idle bytes, whoever has them. Null when none is large enough, or a stream cannot wait.
  Span* take_run(Miss& miss);
  /// In a stitch that is there. Null when there is no place.
  Span* take_in_stitch(Miss& miss);
  /// In a stitch, whatever calls it takes. Null when idle pages are not enough.
  Result<Span*> take_stitched(Miss& miss);

  /// A stitched allocation of a stitch is freed by a stream. Thread-safe.
  void end_use(std::uint32_t stitch, StreamId stream, bool may_record) {
    stitches_->end_use(stitch - 1, stream, may_record);
  }

  /// Gives idle pages to the pool and idle buffers to the device, those whose bytes are of heaps that `is_quiet` says
  /// it of: no work may be using their idle memory. Pages of a stitch that is in use stay. Says how many bytes.
  Bytes trim(std::span<const Tenant> tenants, const std::function<bool(const SpanHeap&)>& is_quiet);
  /// Leaves everything to the device for ever, because work may be using it and there is no waiting for that.
  void abandon();

  [[nodiscard]] Bytes reserved() const { return reserved_; }
  [[nodiscard]] bool is_paged() const { return arena_ != nullptr; }
  [[nodiscard]] ExpandableArena::Counts counts() const;
  [[nodiscard]] UnpagedMemory::Counts unpaged_counts() const { return unpaged_.counts(); }
  [[nodiscard]] std::uint64_t waits() const { return waits_; }
  void reset_counts();

 private:
  [[nodiscard]] bool is_out_of_reach(Bytes least) const;
  Status prepare();
  Status add_page(Bytes size, Miss& miss);
  Status grow_unpaged(Bytes least, Miss& miss);
  static void add_idle(std::byte* address, Bytes size, Miss& miss);
  using IsQuiet = std::function<bool(const SpanHeap&)>;
  Bytes trim_pages(const IdleMap& idle, const IsQuiet& is_quiet);
  Bytes trim_buffers(const IdleMap& idle, const IsQuiet& is_quiet);
  [[nodiscard]] bool transfer(std::span<const SpanHeap::Piece> pieces, const Miss& miss);
  [[nodiscard]] bool wait_for(std::span<SpanHeap* const> owners, std::span<const Tenant> tenants);
  Span* take_at(StitchPlace place, Miss& miss);
  [[nodiscard]] PageUses uses(const IdleMap& idle) const { return {idle, pages_, *arena_}; }
  const PageUses& uses(Miss& miss) const;

  Device& device_;
  const SpaceOptions options_;
  PhysicalPool* pool_ = nullptr;
  std::unique_ptr<ExpandableArena> arena_;  ///< Null: unpaged buffers.
  std::unique_ptr<StitchCache> stitches_;   ///< After the arena, whose stitches it has.
  UnpagedMemory unpaged_;
  PagesByAddress pages_;
  Bytes reserved_;
  std::uint64_t waits_ = 0;
};

[[nodiscard]] IdleMap idle_of(std::span<const Tenant> tenants);

}  // namespace stowage::runtime
