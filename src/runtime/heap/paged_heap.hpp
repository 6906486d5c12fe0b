#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/heap/page_uses.hpp"
#include "runtime/heap/plain_memory.hpp"
#include "runtime/heap/span_heap.hpp"
#include "runtime/heap/view_cache.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/expandable_arena.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

struct HeapOptions {
  Bytes alignment{512};
  Bytes least_page{std::int64_t{2} << 20};
  /// Pages are about this part of what is reserved: a large request is stitched of tens of pages rather than of thousands, and a
  /// page that is not quite full costs little.
  std::int64_t pages = 256;
  /// Views show at most this many times what is reserved.
  std::int64_t views = 4;
};

/// The memory of one stream: the books (`SpanHeap`), the pages behind them, and views of pages. A device without virtual memory,
/// or one that refuses addresses from the start, gives plain buffers instead; then there are no views.
///
/// Policy, that is when to grow and when to stitch, is the allocators' matter. Not thread-safe; nothing checks arguments.
class PagedHeap {
 public:
  PagedHeap(Device& device, StreamId stream, PhysicalPool* pool, const HeapOptions& options);

  // ---- the hot path

  [[nodiscard]] Bytes rounded(Bytes size) const { return align_up(size, options_.alignment); }
  Span* take(Bytes size, Bytes requested) { return books_.take(size, requested); }
  [[nodiscard]] Span* find(const std::byte* address) const { return books_.find(address); }
  Span* remove(const std::byte* address) { return books_.remove(address); }
  void give_back(Span* span) {
    if (span->view != 0) views_->end_use(span->view - 1);
    books_.give_back(span);
  }

  // ---- when no idle span is large enough

  /// A page's size for growth, given what is reserved in all.
  [[nodiscard]] Bytes page_size(Bytes reserved) const;
  /// What the heap must grow by so that a span of that size ends it.
  [[nodiscard]] Bytes shortfall(Bytes size) const;
  /// What idle pages have. 0 without pages.
  [[nodiscard]] Bytes idle_pages() const;
  /// At least that many bytes more, in pages of that size or, where memory is short, of smaller ones. After a failure what came
  /// before it stays.
  Status grow(Bytes least, Bytes page);
  /// A stitched allocation in a view that is there. Null when there is no place.
  Span* take_in_view(Bytes size, Bytes requested);
  /// A stitched allocation whatever calls it takes. Null when idle pages are not enough.
  Result<Span*> take_stitched(Bytes size, Bytes requested);

  // ---- pages that come and go

  /// Idle pages, most of it first, until that many bytes are out; no work may use them any more. They stay mapped here.
  std::vector<Page> lend(Bytes wanted);
  /// A page that becomes the heap's. At the address that it had here before, if it was here before.
  Status adopt(Page page);
  /// Gives idle pages to the pool, and idle buffers to the device; those that no work can be using. Says how many bytes.
  Bytes trim();
  /// Takes the mapping of a page that was lent away, before it goes back to the device. False where a view may be in use.
  bool forget(const Page& page);

  [[nodiscard]] const SpanHeap& books() const { return books_; }
  [[nodiscard]] Bytes reserved() const { return reserved_; }
  [[nodiscard]] bool is_paged() const { return arena_ != nullptr; }
  [[nodiscard]] ExpandableArena::Counts counts() const;
  [[nodiscard]] PlainMemory::Counts plain_counts() const { return plain_.counts(); }
  void reset_counts();

 private:
  Status grow_plain(Bytes least, Bytes page);
  Status add_page(Bytes size);
  Status place(Page page);
  void keep(SlotId slot);
  Span* take_at(ViewCache::Place place, Bytes size, Bytes requested, const PageUses& uses);
  [[nodiscard]] PageUses uses() const;
  Bytes take_out(SlotId slot);

  Device& device_;
  const StreamId stream_;
  const HeapOptions options_;
  SpanHeap books_;
  PhysicalPool* pool_ = nullptr;
  std::unique_ptr<ExpandableArena> arena_;  ///< Null: plain buffers.
  std::unique_ptr<ViewCache> views_;        ///< After the arena, whose views it has.
  PlainMemory plain_;
  PagesByAddress pages_;               ///< That are the heap's now.
  std::map<PhysicalId, SlotId> lent_;  ///< Pages that were its own and have a slot still.
  Bytes reserved_;
};

}  // namespace stowage::runtime
