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

/// The stitched ranges over the pages of heaps, and which of them serves a request that fits no idle span.
///
/// A stitch shows pages that have an address anyway. It is free to be used wherever the bytes behind it are idle: from
/// the idle end of its first page, over idle pages, into the idle start of its last one. So page boundaries waste
/// nothing. Stitches are kept, because workloads repeat themselves: after a few iterations the stitches that they need
/// are there, and no call is made any more. In this order:
///  1. the tightest place in a stitch that is there;
///  2. the stitch that becomes one by the fewest calls, by replacing pages that are busy (an unmap and a map each) or
///  by showing
///     more pages behind its last (a map each), where that is cheaper than
///  3. a new stitch (a map for each page).
/// A page is taken out of a stitch only when no work that was submitted before may still use it there; the device says
/// so. GMLake (ASPLOS 2024) stitches whole blocks, and a stitched block is used only as a whole.
///
/// Cost: O(pages shown by all stitches) per request that comes here.
namespace stowage::runtime {

/// A place in a stitch that is there.
struct StitchPlace {
  std::size_t stitch = 0;
  Bytes offset;
};

class StitchCache {
 public:
  StitchCache(ExpandableArena& arena, Device& device) : arena_(arena), device_(device) {}
  /// Events are forgotten; the arena takes the stitches away.
  ~StitchCache();
  StitchCache(const StitchCache&) = delete;
  StitchCache& operator=(const StitchCache&) = delete;

  /// A place in a stitch that is there.
  [[nodiscard]] std::optional<StitchPlace> find(Bytes size, const PageUses& uses) const;
  /// A place that is made by calls to the device. Nothing when there are not enough idle pages.
  Result<std::optional<StitchPlace>> make(Bytes size, const PageUses& uses);

  /// The bytes behind a place, in order, joined where they touch.
  [[nodiscard]] std::vector<SpanHeap::Piece> pieces(StitchPlace place, Bytes size, const PageUses& uses) const;
  [[nodiscard]] std::byte* address(StitchPlace place) const {
    return arena_.address(stitches_[place.stitch].id) + place.offset.value();
  }

  void begin_use(std::size_t stitch);
  /// The only call that needs no protection against the others: frees come from all threads. `may_record`: the device
  /// may be asked for an event now; else that is done when somebody wants to know whether the stitch is quiet.
  void end_use(std::size_t stitch, StreamId stream, bool may_record);

  /// Takes stitches away, the longest unused first, until what is left shows no more bytes than that; not those in use.
  void bound(Bytes most);
  /// Takes all stitches of that page away. False, and some may be gone, where one is in use or may be.
  bool drop_stitches_of(PageId id);
  [[nodiscard]] Bytes shown() const;

 private:
  struct LastUse {
    StreamId stream;
    std::optional<EventId> event;  ///< Absent: it could not be recorded.
  };
  struct Stitch {
    StitchId id;
    std::vector<PageId> pages;            ///< Empty: there is none of this number.
    std::size_t uses = 0;                 ///< Allocations in it.
    std::vector<LastUse> last_uses = {};  ///< After them it is idle. One of a stream.
    std::uint64_t used_at = 0;
  };
  /// Where a place in a stitch may begin.
  struct Start {
    std::size_t stitch = 0;
    std::size_t position = 0;  ///< Of a page.
  };
  /// A change to a stitch after which it has a place.
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
  mutable std::mutex mutex_;  ///< For what `end_use` touches: uses and events.
  std::vector<Stitch> stitches_;
  std::uint64_t clock_ = 0;
};

}  // namespace stowage::runtime
