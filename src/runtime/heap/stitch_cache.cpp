#include "runtime/heap/stitch_cache.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "runtime/exiting.hpp"

namespace stowage::runtime {
namespace {

void pass_over_failure(const Status&) {}

}  // namespace

StitchCache::~StitchCache() {
  if (process_is_exiting()) return;
  for (const Stitch& stitch : stitches_) {
    for (const LastUse& use : stitch.last_uses) {
      if (use.event) device_.forget(*use.event);
    }
  }
}

// ---------------------------------------------------------------------------------------------------- existing places

std::optional<StitchPlace> StitchCache::find(Bytes size, const PageUses& uses) const {
  std::optional<StitchPlace> best;
  Bytes least = kMaxBytes;
  const auto consider = [&](std::size_t stitch, Bytes from, Bytes to) {
    if (to - from < size || to - from >= least) return;
    least = to - from;
    best = StitchPlace{stitch, from};
  };
  for (std::size_t i = 0; i < stitches_.size(); ++i) {
    std::optional<Bytes> from;  // where the current idle bytes begin
    Bytes at(0);
    for (const PageId id : stitches_[i].pages) {
      const PageUse& page = uses[id];
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

std::vector<SpanHeap::Piece> StitchCache::pieces(StitchPlace place, Bytes size, const PageUses& uses) const {
  std::vector<SpanHeap::Piece> pieces;
  Bytes at(0);
  const Bytes end = place.offset + size;
  for (const PageId id : stitches_[place.stitch].pages) {
    const PageUse& page = uses[id];
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

// --------------------------------------------------------------------------------------------------------- new places

Result<std::optional<StitchPlace>> StitchCache::make(Bytes size, const PageUses& uses) {
  std::vector<PageId> fresh;
  Bytes shown(0);
  for (const PageId id : uses.idle()) {
    if (shown >= size) break;
    fresh.push_back(id);
    shown += uses[id].size;
  }
  if (shown < size) return std::optional<StitchPlace>();
  if (const std::optional<Patch> patch = cheapest_patch(size, uses, fresh.size())) {
    if (const Result<StitchPlace> place = apply(*patch, uses)) return std::optional(*place);
  }
  STOWAGE_TRY(const StitchPlace place, stitch(std::move(fresh)));
  return std::optional(place);
}

/// The patch with the fewest calls, if that is fewer than `calls`.
std::optional<StitchCache::Patch> StitchCache::cheapest_patch(Bytes size, const PageUses& uses, std::size_t calls) {
  const std::vector<PageId> idle = uses.idle();
  std::optional<Patch> best;
  for (std::size_t i = 0; i < stitches_.size(); ++i) {
    const bool quiet = is_quiet(stitches_[i]);
    for (std::size_t first = 0; first < stitches_[i].pages.size(); ++first) {
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

/// The busy pages of a stitch that are in the way of a place at `start`. Nothing if they are too many.
std::optional<std::vector<std::size_t>> StitchCache::busy_pages(Start start, Bytes size, const PageUses& uses,
                                                                std::size_t calls) const {
  const std::vector<PageId>& pages = stitches_[start.stitch].pages;
  std::vector<std::size_t> busy;
  Bytes have(0);
  for (std::size_t i = start.position; i < pages.size() && have < size; ++i) {
    const PageUse& page = uses[pages[i]];
    if (!page.idle() && page.prefix < size - have) busy.push_back(i);
    if (2 * busy.size() >= calls) return std::nullopt;
    have += page.size;
  }
  return busy;
}

/// The patch that makes a place at `start`: it replaces the busy pages by idle ones and appends more at the end.
std::optional<StitchCache::Patch> StitchCache::patch(Start start, Bytes size, const PageUses& uses,
                                                     std::span<const std::size_t> busy,
                                                     std::vector<PageId> idle) const {
  const std::vector<PageId>& pages = stitches_[start.stitch].pages;
  Patch patch{.start = start, .calls = 0, .replaced = {}, .appended = {}};
  std::erase_if(idle, [&](PageId id) { return std::ranges::find(pages, id) != pages.end(); });
  for (const std::size_t position : busy) {
    const auto same =
        std::ranges::find_if(idle, [&](PageId id) { return uses[id].size == uses[pages[position]].size; });
    if (same == idle.end()) return std::nullopt;
    patch.replaced.emplace_back(position, *same);
    idle.erase(same);
  }
  const auto sum = [&](const auto& list) {
    Bytes bytes(0);
    for (const PageId id : list) bytes += uses[id].size;
    return bytes;
  };
  Bytes have = sum(std::span(pages).subspan(start.position));
  for (const PageId id : idle) {
    if (have >= size) break;
    patch.appended.push_back(id);
    have += uses[id].size;
  }
  if (have < size || sum(pages) + sum(patch.appended) > arena_.room(stitches_[start.stitch].id)) return std::nullopt;
  patch.calls = 2 * patch.replaced.size() + patch.appended.size();
  return patch;
}

Result<StitchPlace> StitchCache::apply(const Patch& patch, const PageUses& uses) {
  Stitch& stitch = stitches_[patch.start.stitch];
  Status done = Done{};
  for (const auto& [position, id] : patch.replaced) {
    if (done) done = arena_.replace(stitch.id, position, id);
  }
  for (const PageId id : patch.appended) {
    if (done) done = arena_.append(stitch.id, id);
  }
  stitch.pages = arena_.pages(stitch.id);
  if (stitch.pages.empty())
    pass_over_failure(arena_.unstitch(stitch.id));  // the device failed twice: nothing is left of the stitch
  if (!done) return std::move(done).error();
  StitchPlace place{patch.start.stitch, Bytes(0)};
  for (std::size_t i = 0; i < patch.start.position; ++i) place.offset += uses[stitch.pages[i]].size;
  return place;
}

Result<StitchPlace> StitchCache::stitch(std::vector<PageId> pages) {
  STOWAGE_TRY(const StitchId id, arena_.stitch(pages));
  auto unused = std::ranges::find_if(stitches_, [](const Stitch& stitch) { return stitch.pages.empty(); });
  if (unused == stitches_.end()) unused = stitches_.emplace(stitches_.end());
  *unused = Stitch{.id = id, .pages = std::move(pages)};
  unused->used_at = ++clock_;
  return StitchPlace{static_cast<std::size_t>(unused - stitches_.begin()), Bytes(0)};
}

// --------------------------------------------------------------------------------------------------------------- uses

void StitchCache::begin_use(std::size_t index) {
  const std::lock_guard lock(mutex_);
  ++stitches_[index].uses;
  stitches_[index].used_at = ++clock_;
}

void StitchCache::end_use(std::size_t index, StreamId stream, bool may_record) {
  const std::lock_guard lock(mutex_);
  --stitches_[index].uses;
  record_use_of(stitches_[index], stream, may_record);
}

/// A stream's later event covers its earlier one. If none may be recorded now, that is done when somebody asks.
void StitchCache::record_use_of(Stitch& stitch, StreamId stream, bool may_record) {
  auto use = std::ranges::find(stitch.last_uses, stream, &LastUse::stream);
  if (use == stitch.last_uses.end()) use = stitch.last_uses.insert(use, {stream, std::nullopt});
  if (process_is_exiting()) return;
  if (use->event) device_.forget(*use->event);
  const Result<EventId> event = may_record ? device_.record(stream) : Error{ErrorCode::unsupported, "not now", {}};
  use->event = event ? std::optional(*event) : std::nullopt;
}

bool StitchCache::is_quiet(Stitch& stitch) {
  const std::lock_guard lock(mutex_);
  if (stitch.uses > 0) return false;
  std::erase_if(stitch.last_uses, [&](LastUse& use) {
    if (!use.event) {
      const Result<EventId> event = device_.record(use.stream);
      if (!event) return false;
      use.event = *event;
    }
    const Result<bool> complete = device_.is_complete(*use.event);
    if (complete && !*complete) return false;
    device_.forget(*use.event);
    if (!complete) use.event.reset();  // for example captured into a graph: record another one later
    return complete.has_value();
  });
  return stitch.last_uses.empty();
}

bool StitchCache::take_away(Stitch& stitch) {
  if (!is_quiet(stitch) || !arena_.unstitch(stitch.id)) return false;
  stitch = {};
  return true;
}

void StitchCache::bound(Bytes most) {
  if (shown() <= most) return;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < stitches_.size(); ++i) {
    if (!stitches_[i].pages.empty() && stitches_[i].uses == 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return stitches_[i].used_at; });
  for (const std::size_t i : order) {
    if (shown() <= most) return;
    [[maybe_unused]] const bool gone = take_away(stitches_[i]);  // stays for now if it may be in use
  }
}

bool StitchCache::drop_stitches_of(PageId id) {
  return std::ranges::all_of(stitches_, [&](Stitch& stitch) {
    return std::ranges::find(stitch.pages, id) == stitch.pages.end() || take_away(stitch);
  });
}

Bytes StitchCache::shown() const {
  Bytes sum(0);
  for (const Stitch& stitch : stitches_) {
    for (const PageId id : stitch.pages) sum += arena_.page(id).size;
  }
  return sum;
}

}  // namespace stowage::runtime
