#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/heap/expandable_arena.hpp"
#include "runtime/heap/page_uses.hpp"
#include "runtime/heap/span_heap.hpp"
#include "stowage/memory.hpp"

/// The stitches over the pages of all heaps, and the choice of one for a request that fits no idle span.
///
/// A stitch shows pages that also have their own addresses. Any part of it whose bytes are idle can be used: from the
/// idle end of its first page, over idle pages, to the idle start of its last one. So page boundaries waste nothing.
/// Stitches are cached, because workloads repeat: after a few iterations all stitches that they need exist, and no more
/// calls are made. A request takes the first of these that works:
/// 1. the smallest sufficient place in an existing stitch;
/// 2. the stitch that can be patched with the fewest calls, by replacing busy pages (an unmap and a map each) or by
///    appending pages (a map each), if that is cheaper than
/// 3. a new stitch (a map per page).
///
/// A page is removed from a stitch only after the device has confirmed that no work submitted earlier can still use it
/// through that stitch. GMLake (ASPLOS 2024) stitches whole blocks, and uses a stitched block only as a whole.
///
/// Cost: O(pages in all stitches) per such request.
namespace stowage::runtime {

/// A place in an existing stitch.
struct StitchPlace {
  std::size_t stitch = 0;
  Bytes offset;
};

class StitchCache {
 public:
  StitchCache(ExpandableArena& arena, Device& device) : arena_(arena), device_(device) {}
  /// Forgets its events; the arena unmaps the stitches.
  ~StitchCache();
  StitchCache(const StitchCache&) = delete;
  StitchCache& operator=(const StitchCache&) = delete;

  /// The smallest sufficient place in an existing stitch, if any.
  [[nodiscard]] std::optional<StitchPlace> find(Bytes size, const PageUses& uses) const;
  /// Makes a place by calls to the device. Nothing if there are not enough idle pages.
  Result<std::optional<StitchPlace>> make(Bytes size, const PageUses& uses);

  /// The bytes that back a place, in order; adjacent ones are merged.
  [[nodiscard]] std::vector<SpanHeap::Piece> pieces(StitchPlace place, Bytes size, const PageUses& uses) const;
  [[nodiscard]] std::byte* address(StitchPlace place) const {
    return arena_.address(stitches_[place.stitch].id) + place.offset.value();
  }

  void begin_use(std::size_t stitch);
  /// The only call that is safe concurrently with the others: frees come from all threads. `may_record` says whether
  /// the device may be asked for an event now. If not,
  /// the event is recorded when somebody asks whether the stitch is quiet.
  void end_use(std::size_t stitch, StreamId stream, bool may_record);

  /// Removes stitches that are not in use, least recently used first, until the rest shows at most `most` bytes.
  void bound(Bytes most);
  /// Removes all stitches of that page. Returns false if one is, or may be, in use; others may be gone by then.
  bool drop_stitches_of(PageId id);
  [[nodiscard]] Bytes shown() const;

 private:
  struct LastUse {
    StreamId stream;
    std::optional<EventId> event;  ///< Absent: it could not be recorded.
  };
  struct Stitch {
    StitchId id;
    std::vector<PageId> pages;            ///< Empty: this entry is unused.
    std::size_t uses = 0;                 ///< Allocations in it.
    std::vector<LastUse> last_uses = {};  ///< One per stream. Once all are complete, the stitch is quiet.
    std::uint64_t used_at = 0;
  };
  /// Where a place in a stitch may begin.
  struct Start {
    std::size_t stitch = 0;
    std::size_t position = 0;  ///< Index of a page.
  };
  /// A change after which a stitch has a place for the request.
  struct Patch {
    Start start;
    std::size_t calls = 0;
    std::vector<std::pair<std::size_t, PageId>> replaced;
    std::vector<PageId> appended;
  };

  [[nodiscard]] std::optional<Patch> cheapest_patch(Bytes size, const PageUses& uses, std::size_t calls);
  [[nodiscard]] std::optional<std::vector<std::size_t>> busy_pages(Start start, Bytes size, const PageUses& uses,
                                                                   std::size_t calls) const;
  [[nodiscard]] std::optional<Patch> patch(Start start, Bytes size, const PageUses& uses,
                                           std::span<const std::size_t> busy, std::vector<PageId> idle) const;
  Result<StitchPlace> apply(const Patch& patch, const PageUses& uses);
  Result<StitchPlace> stitch(std::vector<PageId> pages);
  void record_use_of(Stitch& stitch, StreamId stream, bool may_record);
  [[nodiscard]] bool is_quiet(Stitch& stitch);
  [[nodiscard]] bool take_away(Stitch& stitch);

  ExpandableArena& arena_;
  Device& device_;
  mutable std::mutex mutex_;  ///< Protects what `end_use` touches: uses and events.
  std::vector<Stitch> stitches_;
  std::uint64_t clock_ = 0;
};

}  // namespace stowage::runtime
