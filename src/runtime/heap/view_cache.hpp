#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/heap/page_uses.hpp"
#include "runtime/heap/span_heap.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/expandable_arena.hpp"

/// The stitched ranges over the pages of heaps, and which of them serves a request that fits no idle span.
///
/// A view shows pages that have an address anyway. It is free to be used wherever the bytes behind it are idle: from the
/// idle end of its first page, over idle pages, into the idle start of its last one. So page boundaries waste nothing. Views are
/// kept, because workloads repeat themselves: after a few iterations the views that they need are there, and no call is made any
/// more. In this order:
///  1. the tightest place in a view that is there;
///  2. the view that becomes one by the fewest calls, by replacing pages that are busy (an unmap and a map each) or by showing
///     more pages behind its last (a map each), where that is cheaper than
///  3. a new view (a map for each page).
/// A page is taken out of a view only when no work that was submitted before may still use it there; the device says so.
/// GMLake (ASPLOS 2024) stitches whole blocks, and a stitched block is used only as a whole.
///
/// Cost: O(pages shown by all views) a request that comes here.
namespace stowage::runtime {

class ViewCache {
 public:
  ViewCache(ExpandableArena& arena, Device& device) : arena_(arena), device_(device) {}
  /// Events are forgotten; the arena takes the views away.
  ~ViewCache();
  ViewCache(const ViewCache&) = delete;
  ViewCache& operator=(const ViewCache&) = delete;

  struct Place {
    std::size_t view = 0;
    Bytes offset;
  };
  /// A place in a view that is there.
  [[nodiscard]] std::optional<Place> find(Bytes size, const PageUses& uses) const;
  /// A place that is made by calls to the device. Nothing when there are not enough idle pages.
  Result<std::optional<Place>> make(Bytes size, const PageUses& uses);

  /// The bytes behind a place, in order, joined where they touch.
  [[nodiscard]] std::vector<SpanHeap::Piece> pieces(Place place, Bytes size, const PageUses& uses) const;
  [[nodiscard]] std::byte* address(Place place) const { return arena_.address(views_[place.view].id) + place.offset.value(); }

  void begin_use(std::size_t view);
  /// The only call that needs no protection against the others: frees come from all threads. `may_record`: the device may be
  /// asked for an event now; else that is done when somebody wants to know whether the view is quiet.
  void end_use(std::size_t view, StreamId stream, bool may_record);

  /// Takes views away, the longest unused first, until what is left shows no more bytes than that; not those in use.
  void bound(Bytes most);
  /// Takes all views of that page away. False, and some may be gone, where one is in use or may be.
  bool drop_views_of(SlotId slot);
  [[nodiscard]] Bytes shown() const;

 private:
  struct LastUse {
    StreamId stream;
    std::optional<EventId> event;  ///< Absent: it could not be recorded.
  };
  struct View {
    ViewId id;
    std::vector<SlotId> slots;            ///< Empty: there is none of this number.
    std::size_t uses = 0;                 ///< Allocations in it.
    std::vector<LastUse> last_uses = {};  ///< After them it is idle. One of a stream.
    std::uint64_t used_at = 0;
  };
  /// Where a place in a view may begin.
  struct Start {
    std::size_t view = 0;
    std::size_t position = 0;  ///< Of a page.
  };
  /// A change to a view after which it has a place.
  struct Patch {
    Start start;
    std::size_t calls = 0;
    std::vector<std::pair<std::size_t, SlotId>> replaced;
    std::vector<SlotId> appended;
  };

  [[nodiscard]] std::optional<Patch> cheapest_patch(Bytes size, const PageUses& uses, std::size_t calls);
  [[nodiscard]] std::optional<std::vector<std::size_t>> busy_pages(Start start, Bytes size, const PageUses& uses,
                                                                   std::size_t calls) const;
  [[nodiscard]] std::optional<Patch> patch(Start start, Bytes size, const PageUses& uses, std::span<const std::size_t> busy,
                                           std::vector<SlotId> idle) const;
  Result<Place> apply(const Patch& patch, const PageUses& uses);
  Result<Place> stitch(std::vector<SlotId> slots);
  void record_use_of(View& view, StreamId stream, bool may_record);
  [[nodiscard]] bool is_quiet(View& view);
  [[nodiscard]] bool take_away(View& view);

  ExpandableArena& arena_;
  Device& device_;
  mutable std::mutex mutex_;  ///< For what `end_use` touches: uses and events.
  std::vector<View> views_;
  std::uint64_t clock_ = 0;
};

}  // namespace stowage::runtime
