#include "runtime/heap/expandable_arena.hpp"

#include <algorithm>
#include <utility>

#include "runtime/exiting.hpp"

/// Failures to undo something are ignored, because nothing can be done about it: a device that refuses to unmap (it is
/// lost, for example) keeps the mapping.
namespace stowage::runtime {
namespace {

void pass_over(const Status&) {}

/// Takes an id off the list of unused ones, or makes a new one.
template <class Id, class Entry>
Id take_number(std::vector<Id>& unused, std::vector<Entry>& entries) {
  if (unused.empty()) {
    entries.emplace_back();
    return Id(entries.size() - 1);
  }
  const Id id = unused.back();
  unused.pop_back();
  return id;
}

}  // namespace

ExpandableArena::ExpandableArena(PhysicalPool& pool, Options options)
    : pool_(pool), memory_(pool.memory()), options_(options) {
  process_is_exiting();
}

ExpandableArena::~ExpandableArena() {
  if (process_is_exiting()) return;
  for (Stitch& stitch : stitches_) {
    if (stitch.range.address != nullptr) forget(stitch);
  }
  for (const PlacedPage& placed : pages_) {
    if (placed.address == nullptr) continue;
    if (unmap(placed.address, placed.page.size))
      pool_.free(placed.page);
    else
      pool_.write_off(placed.page.size);  // work may still be using it
  }
  for (const Range& range : ranges_) pass_over(memory_.free(range.address, range.size));
}

// -------------------------------------------------------------------------------------------------------------- pages

Status ExpandableArena::prepare(Bytes page) {
  const std::lock_guard lock(mutex_);
  return vacant_.empty() ? reserve_range(page) : Status(Done{});
}

Result<PageId> ExpandableArena::add(Page page) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY(std::byte* const address, find_addresses(page.size));
  if (Status mapped = map(address, page); !mapped) {
    give_back_addresses(address, page.size);
    return std::move(mapped).error();
  }
  ++counts_.access_calls;
  const PageId page_id = take_number(free_ids_, pages_);
  pages_[page_id.index()] = {address, page};
  return page_id;
}

Result<Page> ExpandableArena::remove(PageId id) {
  const std::lock_guard lock(mutex_);
  PlacedPage& placed = pages_[id.index()];
  STOWAGE_TRY_STATUS(unmap(placed.address, placed.page.size));
  const Page page = placed.page;
  give_back_addresses(placed.address, page.size);
  placed = {};
  free_ids_.push_back(id);
  return page;
}

/// First fit: the lowest vacant addresses that are large enough. So the arena grows upwards and fills gaps first.
Result<std::byte*> ExpandableArena::find_addresses(Bytes size) {
  auto found = std::ranges::find_if(vacant_, [&](const auto& entry) { return entry.second >= size; });
  if (found == vacant_.end()) {
    STOWAGE_TRY_STATUS(reserve_range(size));
    found = std::ranges::find_if(vacant_, [&](const auto& entry) { return entry.second >= size; });
  }
  const auto [address, room] = *found;
  vacant_.erase(found);
  if (room > size) vacant_.emplace(address + size.value(), room - size);
  return address;
}

Status ExpandableArena::reserve_range(Bytes least) {
  const Bytes guard = memory_.granularity();  // so that pages of two ranges are never adjacent
  Bytes size = std::max(align_up(options_.range, guard), least);
  Result<std::byte*> address = memory_.reserve(size + guard);
  while (!address && size > least) {
    size = std::max(align_up(Bytes(size.value() / 2), guard), least);
    address = memory_.reserve(size + guard);
  }
  if (!address) return std::move(address).error();
  ranges_.push_back({*address, size + guard});
  vacant_.emplace(*address, size);
  return Done{};
}

void ExpandableArena::give_back_addresses(std::byte* address, Bytes size) {
  const auto at = vacant_.emplace(address, size).first;
  if (const auto after = std::next(at); after != vacant_.end() && at->first + at->second.value() == after->first) {
    at->second += after->second;
    vacant_.erase(after);
  }
  if (at == vacant_.begin()) return;
  if (const auto before = std::prev(at); before->first + before->second.value() == at->first) {
    before->second += at->second;
    vacant_.erase(at);
  }
}

// ----------------------------------------------------------------------------------------------------------- stitches

Result<StitchId> ExpandableArena::stitch(std::span<const PageId> pages) {
  const std::lock_guard lock(mutex_);
  const Bytes size = size_of(pages);
  Range range{nullptr, size + size};
  STOWAGE_TRY(range.address, memory_.reserve(range.size));
  if (Status mapped = map_all(range.address, pages); !mapped) {
    pass_over(memory_.free(range.address, range.size));
    return std::move(mapped).error();
  }
  const StitchId stitch = take_number(free_stitches_, stitches_);
  stitches_[stitch.index()] = {range, {pages.begin(), pages.end()}};
  return stitch;
}

Status ExpandableArena::replace(StitchId id, std::size_t position, PageId page_id) {
  const std::lock_guard lock(mutex_);
  Stitch& stitch = stitches_[id.index()];
  const Page old = pages_[stitch.pages[position].index()].page;
  const Page page = pages_[page_id.index()].page;
  STOWAGE_CHECK(old.size == page.size, "a page is only replaced by one of the same size");
  std::byte* const address = stitch.range.address + size_of(std::span(stitch.pages).first(position)).value();
  STOWAGE_TRY_STATUS(unmap(address, page.size));
  if (Status mapped = map(address, page); !mapped) {
    if (!map(address, old)) cut(stitch, position);
    return mapped;
  }
  ++counts_.access_calls;
  stitch.pages[position] = page_id;
  return Done{};
}

Status ExpandableArena::append(StitchId id, PageId page_id) {
  const std::lock_guard lock(mutex_);
  Stitch& stitch = stitches_[id.index()];
  const Bytes size = size_of(stitch.pages);
  const Page page = pages_[page_id.index()].page;
  if (size + page.size > stitch.range.size)
    return Error{ErrorCode::unsupported, "the stitch has no room for another page", {}};
  STOWAGE_TRY_STATUS(map(stitch.range.address + size.value(), page));
  ++counts_.access_calls;
  stitch.pages.push_back(page_id);
  return Done{};
}

Status ExpandableArena::unstitch(StitchId id) {
  const std::lock_guard lock(mutex_);
  Stitch& stitch = stitches_[id.index()];
  if (!stitch.pages.empty()) STOWAGE_TRY_STATUS(unmap(stitch.range.address, size_of(stitch.pages)));
  stitch.pages.clear();
  forget(stitch);
  free_stitches_.push_back(id);
  return Done{};
}

void ExpandableArena::forget(Stitch& stitch) {
  if (const Bytes size = size_of(stitch.pages); size > Bytes(0)) pass_over(unmap(stitch.range.address, size));
  pass_over(memory_.free(stitch.range.address, stitch.range.size));
  stitch = {};
}

/// Truncates a stitch at a position where nothing is mapped any more, and unmaps the pages after it.
void ExpandableArena::cut(Stitch& stitch, std::size_t position) {
  const std::span<const PageId> shown = stitch.pages;
  const Bytes kept = size_of(shown.first(position + 1));
  if (const Bytes rest = size_of(shown.subspan(position + 1)); rest > Bytes(0))
    pass_over(unmap(stitch.range.address + kept.value(), rest));
  stitch.pages.resize(position);
}

Bytes ExpandableArena::size_of(std::span<const PageId> pages) const {
  Bytes size(0);
  for (const PageId page_id : pages) size += pages_[page_id.index()].page.size;
  return size;
}

Status ExpandableArena::map_all(std::byte* address, std::span<const PageId> pages) {
  std::vector<PhysicalRange> ranges;
  for (const PageId page_id : pages) {
    const Page& page = pages_[page_id.index()].page;
    ranges.push_back({page.physical, Bytes(0), page.size});
  }
  STOWAGE_TRY_STATUS(memory_.map_all(address, ranges));
  counts_.maps += ranges.size();
  ++counts_.access_calls;
  return Done{};
}

Status ExpandableArena::map(std::byte* address, const Page& page) {
  STOWAGE_TRY_STATUS(memory_.map(address, page.physical, Bytes(0), page.size));
  ++counts_.maps;
  return Done{};
}

Status ExpandableArena::unmap(std::byte* address, Bytes size) {
  STOWAGE_TRY_STATUS(memory_.unmap(address, size));
  ++counts_.unmaps;
  return Done{};
}

// ------------------------------------------------------------------------------------------------------------ queries

std::byte* ExpandableArena::address(PageId page_id) const {
  const std::lock_guard lock(mutex_);
  return pages_[page_id.index()].address;
}

Page ExpandableArena::page(PageId page_id) const {
  const std::lock_guard lock(mutex_);
  return pages_[page_id.index()].page;
}

std::byte* ExpandableArena::address(StitchId stitch) const {
  const std::lock_guard lock(mutex_);
  return stitches_[stitch.index()].range.address;
}

Bytes ExpandableArena::room(StitchId stitch) const {
  const std::lock_guard lock(mutex_);
  return stitches_[stitch.index()].range.size;
}

std::vector<PageId> ExpandableArena::pages(StitchId stitch) const {
  const std::lock_guard lock(mutex_);
  return stitches_[stitch.index()].pages;
}

ExpandableArena::Counts ExpandableArena::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void ExpandableArena::reset_counts() {
  const std::lock_guard lock(mutex_);
  counts_ = {};
}

}  // namespace stowage::runtime
