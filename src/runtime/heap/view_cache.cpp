#include "runtime/heap/view_cache.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "runtime/exiting.hpp"

namespace stowage::runtime {
namespace {

void pass_over(const Status&) {}

}  // namespace

ViewCache::~ViewCache() {
  if (process_is_exiting()) return;
  for (const View& view : views_) {
    for (const LastUse& use : view.last_uses) {
      if (use.event) device_.forget(*use.event);
    }
  }
}

// -------------------------------------------------------------------------------------------------- places that are there

std::optional<ViewCache::Place> ViewCache::find(Bytes size, const PageUses& uses) const {
  std::optional<Place> best;
  Bytes least = kMaxBytes;
  const auto consider = [&](std::size_t view, Bytes from, Bytes to) {
    if (to - from < size || to - from >= least) return;
    least = to - from;
    best = Place{view, from};
  };
  for (std::size_t i = 0; i < views_.size(); ++i) {
    std::optional<Bytes> from;  // where the idle bytes at hand begin
    Bytes at(0);
    for (const SlotId slot : views_[i].slots) {
      const PageUse& page = uses[slot];
      if (page.idle()) {
        from = from.value_or(at);
      } else {
        if (from) consider(i, *from, at + page.prefix);
        from = page.suffix > Bytes(0) ? std::optional(at + page.size - page.suffix) : std::nullopt;
      }
      at += page.size;
    }
    if (from) consider(i, *from, at);
  }
  return best;
}

std::vector<SpanHeap::Piece> ViewCache::pieces(Place place, Bytes size, const PageUses& uses) const {
  std::vector<SpanHeap::Piece> pieces;
  Bytes at(0);
  const Bytes end = place.offset + size;
  for (const SlotId slot : views_[place.view].slots) {
    const PageUse& page = uses[slot];
    const Bytes from = std::max(at, place.offset);
    const Bytes to = std::min(at + page.size, end);
    if (from < to) {
      std::byte* const address = page.address + (from - at).value();
      if (!pieces.empty() && pieces.back().address + pieces.back().size.value() == address)
        pieces.back().size += to - from;
      else
        pieces.push_back({address, to - from});
    }
    at += page.size;
  }
  return pieces;
}

// -------------------------------------------------------------------------------------------------- places that are made

Result<std::optional<ViewCache::Place>> ViewCache::make(Bytes size, const PageUses& uses) {
  std::vector<SlotId> fresh;
  Bytes shown(0);
  for (const SlotId slot : uses.idle()) {
    if (shown >= size) break;
    fresh.push_back(slot);
    shown += uses[slot].size;
  }
  if (shown < size) return std::optional<Place>();
  if (const std::optional<Patch> patch = cheapest_patch(size, uses, fresh.size())) {
    if (const Result<Place> place = apply(*patch, uses)) return std::optional(*place);
  }
  STOWAGE_TRY(const Place place, stitch(std::move(fresh)));
  return std::optional(place);
}

/// The patch of fewer than `calls` calls that has the fewest.
std::optional<ViewCache::Patch> ViewCache::cheapest_patch(Bytes size, const PageUses& uses, std::size_t calls) {
  const std::vector<SlotId> idle = uses.idle();
  std::optional<Patch> best;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const bool quiet = is_quiet(views_[i]);
    for (std::size_t first = 0; first < views_[i].slots.size(); ++first) {
      const std::optional<std::vector<std::size_t>> busy = busy_pages({i, first}, size, uses, calls);
      if (!busy || (!busy->empty() && !quiet)) continue;
      std::optional<Patch> found = patch({i, first}, size, uses, *busy, idle);
      if (!found || found->calls >= calls) continue;
      calls = found->calls;
      best = std::move(found);
    }
  }
  return best;
}

/// Which pages of a view are in the way of a place that begins at a position. Nothing where they are too many.
std::optional<std::vector<std::size_t>> ViewCache::busy_pages(Start start, Bytes size, const PageUses& uses,
                                                              std::size_t calls) const {
  const std::vector<SlotId>& slots = views_[start.view].slots;
  std::vector<std::size_t> busy;
  Bytes have(0);
  for (std::size_t i = start.position; i < slots.size() && have < size; ++i) {
    const PageUse& page = uses[slots[i]];
    if (!page.idle() && page.prefix < size - have) busy.push_back(i);
    if (2 * busy.size() >= calls) return std::nullopt;
    have += page.size;
  }
  return busy;
}

/// What makes a place of a view from a position on: other idle pages for the busy ones, and more behind its last.
std::optional<ViewCache::Patch> ViewCache::patch(Start start, Bytes size, const PageUses& uses, std::span<const std::size_t> busy,
                                                 std::vector<SlotId> idle) const {
  const std::vector<SlotId>& slots = views_[start.view].slots;
  Patch patch{.start = start, .calls = 0, .replaced = {}, .appended = {}};
  std::erase_if(idle, [&](SlotId slot) { return std::ranges::find(slots, slot) != slots.end(); });
  for (const std::size_t position : busy) {
    const auto same = std::ranges::find_if(idle, [&](SlotId slot) { return uses[slot].size == uses[slots[position]].size; });
    if (same == idle.end()) return std::nullopt;
    patch.replaced.emplace_back(position, *same);
    idle.erase(same);
  }
  const auto sum = [&](const auto& list) {
    Bytes bytes(0);
    for (const SlotId slot : list) bytes += uses[slot].size;
    return bytes;
  };
  Bytes have = sum(std::span(slots).subspan(start.position));
  for (const SlotId slot : idle) {
    if (have >= size) break;
    patch.appended.push_back(slot);
    have += uses[slot].size;
  }
  if (have < size || sum(slots) + sum(patch.appended) > arena_.room(views_[start.view].id)) return std::nullopt;
  patch.calls = 2 * patch.replaced.size() + patch.appended.size();
  return patch;
}

Result<ViewCache::Place> ViewCache::apply(const Patch& patch, const PageUses& uses) {
  View& view = views_[patch.start.view];
  Status done = Done{};
  for (const auto& [position, slot] : patch.replaced) {
    if (done) done = arena_.replace(view.id, position, slot);
  }
  for (const SlotId slot : patch.appended) {
    if (done) done = arena_.append(view.id, slot);
  }
  view.slots = arena_.slots(view.id);
  if (view.slots.empty()) pass_over(arena_.unstitch(view.id));  // the device failed twice over: there is nothing left of it
  if (!done) return std::move(done).error();
  Place place{patch.start.view, Bytes(0)};
  for (std::size_t i = 0; i < patch.start.position; ++i) place.offset += uses[view.slots[i]].size;
  return place;
}

Result<ViewCache::Place> ViewCache::stitch(std::vector<SlotId> slots) {
  STOWAGE_TRY(const ViewId id, arena_.stitch(slots));
  auto unused = std::ranges::find_if(views_, [](const View& view) { return view.slots.empty(); });
  if (unused == views_.end()) unused = views_.emplace(views_.end());
  *unused = View{.id = id, .slots = std::move(slots)};
  unused->used_at = ++clock_;
  return Place{static_cast<std::size_t>(unused - views_.begin()), Bytes(0)};
}

// ----------------------------------------------------------------------------------------------------------------- uses

void ViewCache::begin_use(std::size_t index) {
  const std::lock_guard lock(mutex_);
  ++views_[index].uses;
  views_[index].used_at = ++clock_;
}

void ViewCache::end_use(std::size_t index, StreamId stream, bool may_record) {
  const std::lock_guard lock(mutex_);
  --views_[index].uses;
  record_use_of(views_[index], stream, may_record);
}

/// The later moment of a stream covers the earlier. Where it may not be recorded, that is done when somebody asks.
void ViewCache::record_use_of(View& view, StreamId stream, bool may_record) {
  auto use = std::ranges::find(view.last_uses, stream, &LastUse::stream);
  if (use == view.last_uses.end()) use = view.last_uses.insert(use, {stream, std::nullopt});
  if (process_is_exiting()) return;
  if (use->event) device_.forget(*use->event);
  const Result<EventId> event = may_record ? device_.record(stream) : Error{ErrorCode::unsupported, "not now", {}};
  use->event = event ? std::optional(*event) : std::nullopt;
}

bool ViewCache::is_quiet(View& view) {
  const std::lock_guard lock(mutex_);
  if (view.uses > 0) return false;
  std::erase_if(view.last_uses, [&](LastUse& use) {
    if (!use.event) {
      const Result<EventId> event = device_.record(use.stream);
      if (!event) return false;
      use.event = *event;
    }
    const Result<bool> complete = device_.is_complete(*use.event);
    if (complete && !*complete) return false;
    device_.forget(*use.event);
    if (!complete) use.event.reset();  // one that was captured into a graph, say: later another
    return complete.has_value();
  });
  return view.last_uses.empty();
}

bool ViewCache::take_away(View& view) {
  if (!is_quiet(view) || !arena_.unstitch(view.id)) return false;
  view = {};
  return true;
}

void ViewCache::bound(Bytes most) {
  if (shown() <= most) return;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (!views_[i].slots.empty() && views_[i].uses == 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return views_[i].used_at; });
  for (const std::size_t i : order) {
    if (shown() <= most) return;
    [[maybe_unused]] const bool gone = take_away(views_[i]);  // one that may be in use stays for now
  }
}

bool ViewCache::drop_views_of(SlotId slot) {
  return std::ranges::all_of(
      views_, [&](View& view) { return std::ranges::find(view.slots, slot) == view.slots.end() || take_away(view); });
}

Bytes ViewCache::shown() const {
  Bytes sum(0);
  for (const View& view : views_) {
    for (const SlotId slot : view.slots) sum += arena_.page(slot).size;
  }
  return sum;
}

}  // namespace stowage::runtime
