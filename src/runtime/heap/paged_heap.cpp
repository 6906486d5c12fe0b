#include "runtime/heap/paged_heap.hpp"

#include <algorithm>
#include <utility>

namespace stowage::runtime {

PagedHeap::PagedHeap(Device& device, StreamId stream, PhysicalPool* pool, const HeapOptions& options)
    : device_(device),
      stream_(stream),
      options_(options),
      books_(options.alignment),
      pool_(pool),
      plain_(device.buffer_type(), options.alignment) {
  if (pool == nullptr) return;
  arena_ = std::make_unique<ExpandableArena>(*pool);
  views_ = std::make_unique<ViewCache>(*arena_, device, stream);
}

// -------------------------------------------------------------------------------------------------------------- growth

Bytes PagedHeap::page_size(Bytes reserved) const {
  Bytes page = options_.least_page;
  while (page.value() * options_.pages < reserved.value()) page += page;
  return page;
}

Bytes PagedHeap::shortfall(Bytes size) const { return is_paged() ? size - std::min(size, books_.idle_tail()) : size; }

Bytes PagedHeap::idle_pages() const { return is_paged() ? uses().idle_bytes() : Bytes(0); }

Status PagedHeap::grow(Bytes least, Bytes page) {
  if (!is_paged()) return grow_plain(least, page);
  for (Bytes grown(0); grown < least;) {
    Status added = add_page(page);
    while (!added && added.error().code == ErrorCode::out_of_memory && page > options_.least_page) {
      page = std::max(options_.least_page, Bytes(page.value() / 2));
      added = add_page(page);
    }
    if (!added) return added;
    grown += page;
  }
  return Done{};
}

Status PagedHeap::add_page(Bytes size) {
  STOWAGE_TRY(const Page page, pool_->acquire(size));
  Status placed = place(page);
  if (!placed) pool_->give_back(page);
  return placed;
}

Status PagedHeap::place(Page page) {
  STOWAGE_TRY(const SlotId slot, arena_->add(page));
  keep(slot);
  return Done{};
}

/// The page of a slot is the heap's from now on.
void PagedHeap::keep(SlotId slot) {
  std::byte* const address = arena_->address(slot);
  const Bytes size = arena_->page(slot).size;
  pages_.emplace(address, slot);
  books_.add(address, size);
  reserved_ += size;
}

Status PagedHeap::grow_plain(Bytes least, Bytes page) {
  Result<PlainMemory::Run> run = plain_.allocate(align_up(least, page));
  if (!run && run.error().code == ErrorCode::out_of_memory) run = plain_.allocate(align_up(least, options_.alignment));
  if (!run) return std::move(run).error();
  books_.add(run->address, run->size);
  reserved_ = plain_.reserved();
  return Done{};
}

// --------------------------------------------------------------------------------------------------------------- views

PageUses PagedHeap::uses() const {
  std::vector<SlotId> absent;
  for (const auto& [physical, slot] : lent_) absent.push_back(slot);
  return {books_, pages_, absent, *arena_};
}

Span* PagedHeap::take_in_view(Bytes size, Bytes requested) {
  if (!is_paged()) return nullptr;
  const PageUses now = uses();
  const std::optional<ViewCache::Place> place = views_->find(size, now);
  return place ? take_at(*place, size, requested, now) : nullptr;
}

Result<Span*> PagedHeap::take_stitched(Bytes size, Bytes requested) {
  if (!is_paged()) return nullptr;
  const PageUses now = uses();
  STOWAGE_TRY(const std::optional<ViewCache::Place> place, views_->make(size, now));
  if (!place) return nullptr;
  Span* const span = take_at(*place, size, requested, now);
  views_->bound(Bytes(reserved_.value() * options_.views));
  return span;
}

Span* PagedHeap::take_at(ViewCache::Place place, Bytes size, Bytes requested, const PageUses& uses) {
  views_->begin_use(place.view);
  const auto view = static_cast<std::uint32_t>(place.view + 1);
  return books_.take_pieces(views_->pieces(place, size, uses), views_->address(place), view, requested);
}

// --------------------------------------------------------------------------------------------------------- come and go

std::vector<Page> PagedHeap::lend(Bytes wanted) {
  std::vector<Page> pages;
  if (!is_paged()) return pages;
  const PageUses now = uses();
  std::vector<SlotId> idle = now.idle();
  for (const SlotId slot : idle) {
    if (wanted <= Bytes(0)) break;
    const Page page = arena_->page(slot);
    lent_.emplace(page.physical, slot);
    wanted -= take_out(slot);
    pages.push_back(page);
  }
  return pages;
}

/// The page is not the heap's any more; its slot stays.
Bytes PagedHeap::take_out(SlotId slot) {
  std::byte* const address = arena_->address(slot);
  const Bytes size = arena_->page(slot).size;
  books_.cut(address, size);
  pages_.erase(address);
  reserved_ -= size;
  return size;
}

Status PagedHeap::adopt(Page page) {
  const auto known = lent_.find(page.physical);
  if (known == lent_.end()) return place(page);
  keep(known->second);
  lent_.erase(known);
  return Done{};
}

bool PagedHeap::forget(const Page& page) {
  const auto known = lent_.find(page.physical);
  if (known == lent_.end()) return true;
  if (!views_->drop_views_of(known->second) || !arena_->remove(known->second)) return false;
  lent_.erase(known);
  return true;
}

Bytes PagedHeap::trim() {
  Bytes returned(0);
  if (is_paged()) {
    for (const SlotId slot : uses().idle()) {
      if (!views_->drop_views_of(slot)) continue;
      const Bytes size = take_out(slot);
      const Result<Page> page = arena_->remove(slot);
      if (!page) {  // the device failed: as if nothing had happened
        keep(slot);
        continue;
      }
      returned += size;
      pool_->give_back(*page);
    }
    return returned;
  }
  for (const PlainMemory::Run& run : plain_.runs()) {
    const Span* const span = books_.at(run.address);
    if (span->state != SpanState::idle || span->size != run.size) continue;
    books_.cut(run.address, run.size);
    returned += plain_.free(run.address);
  }
  reserved_ = plain_.reserved();
  return returned;
}

ExpandableArena::Counts PagedHeap::counts() const { return is_paged() ? arena_->counts() : ExpandableArena::Counts{}; }

void PagedHeap::reset_counts() {
  if (is_paged()) arena_->reset_counts();
  plain_.reset_counts();
}

}  // namespace stowage::runtime
