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
  /// A page is about 1/`pages` of the reserved bytes. So a large request is stitched from tens of pages rather than
  /// thousands, and a partly used page wastes little.
  std::int64_t pages = 256;
  /// All stitches together map at most this many times the reserved bytes.
  std::int64_t stitches = 4;
  std::optional<Bytes> limit = {};  ///< For unpaged buffers only; a pool has its own limit.
};

/// A heap, as seen by the space that it lives in.
struct Tenant {
  SpanHeap* books = nullptr;
  StreamId stream;
};

/// A request that fits no idle span of its heap, and the idle bytes of all heaps while it is served. They are collected
/// once, and updated as memory grows.
struct Miss {
  /// `heaps` are all heaps that may give memory to the request. The first is the one that asks. They outlive the miss.
  Miss(Bytes rounded, Bytes asked, std::span<const Tenant> heaps);

  [[nodiscard]] SpanHeap& heap() const { return *tenants.front().books; }

  Bytes size;  ///< Rounded.
  Bytes requested;
  std::span<const Tenant> tenants;
  IdleMap idle;
  std::optional<PageUses> uses = {};  ///< Of `idle`; computed on demand, and reset when memory grows.
};

/// The memory that the heaps of a device's streams share: pages at fixed addresses, and stitches of them. Every byte
/// belongs to one heap. Idle bytes of one heap can move to another without any call except that one stream waits for
/// the other. So a page is mapped once, and idle memory of any heap can serve every heap. If a device has no virtual
/// memory, or refuses to reserve addresses from the start, unpaged buffers are used instead;
/// then there are no stitches.
///
/// Most calls below are for a `Miss`; nothing else may use the heaps' bookkeeping meanwhile. The policy, which decides
/// when to do what, is in `serve`. Not thread-safe, except for `end_use`.
class PageSpace {
 public:
  PageSpace(Device& device, PhysicalPool* pool, const SpaceOptions& options);

  /// The page size to use when growing by that many bytes.
  [[nodiscard]] Bytes page_size(Bytes growth) const;
  /// How many bytes must be added so that the space ends with an idle run of the miss's size.
  [[nodiscard]] Bytes shortfall(const Miss& miss) const;
  /// Total size of the idle pages; 0 if unpaged.
  [[nodiscard]] Bytes idle_pages(Miss& miss) const;
  [[nodiscard]] Bytes idle_pages(const IdleMap& idle) const;

  /// Adds at least that many bytes to the heap that asks, in pages of `page_size`, or smaller ones if memory is short.
  /// Fails at once if the bytes cannot be had; after a later failure, pages that were already added stay.
  Status grow(Bytes least, Miss& miss);

  /// Takes the bytes from the smallest idle run that fits, whichever heaps own it. Null if none fits, or if a stream
  /// cannot wait.
  Span* take_run(Miss& miss);
  /// Takes the bytes in an existing stitch. Null if none has room.
  Span* take_in_stitch(Miss& miss);
  /// Takes the bytes in a stitch, making or changing one if necessary. Null if there are not enough idle pages.
  Result<Span*> take_stitched(Miss& miss);

  /// A stream frees an allocation in this stitch. Thread-safe.
  void end_use(std::uint32_t stitch, StreamId stream, bool may_record) {
    stitches_->end_use(stitch - 1, stream, may_record);
  }

  /// Returns idle pages to the pool and idle buffers to the device, and says how many bytes that was. Takes only from
  /// heaps for which `is_quiet` is true: no work may be using their idle memory. Pages of a stitch in use stay.
  Bytes trim(std::span<const Tenant> tenants, const std::function<bool(const SpanHeap&)>& is_quiet);
  /// Leaks all memory deliberately, because work may still be using it and cannot be waited for.
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
  std::unique_ptr<StitchCache> stitches_;   ///< Declared after the arena, because it refers to the arena's stitches.
  UnpagedMemory unpaged_;
  PagesByAddress pages_;
  Bytes reserved_;
  std::uint64_t waits_ = 0;
};

[[nodiscard]] IdleMap idle_of(std::span<const Tenant> tenants);

}  // namespace stowage::runtime
