#include "stowage/runtime/expandable_arena.hpp"

#include <algorithm>
#include <utility>

#include "runtime/exiting.hpp"

/// A device that does not take a mapping away (it is lost, say) leaves nothing to be done: such failures on the way back are
/// passed over, and what they concern stays as it is.
namespace stowage {
namespace {

void pass_over(const Status&) {}

/// Takes a number off the list of unused ones, or makes one.
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

ExpandableArena::ExpandableArena(PhysicalPool& pool, Options options) : pool_(pool), memory_(pool.memory()), options_(options) {
  runtime::process_is_exiting();
}

ExpandableArena::~ExpandableArena() {
  if (runtime::process_is_exiting()) return;
  for (View& view : views_) {
    if (view.range.address != nullptr) forget(view);
  }
  for (const Slot& slot : slots_) {
    if (slot.address == nullptr) continue;
    if (unmap(slot.address, slot.page.size))
      pool_.give_back(slot.page);
    else
      pool_.write_off(slot.page.size);  // work may be using it still
  }
  for (const Range& range : ranges_) pass_over(memory_.free(range.address, range.size));
}

// --------------------------------------------------------------------------------------------------------------- slots

Status ExpandableArena::prepare(Bytes page) {
  const std::lock_guard lock(mutex_);
  return vacant_.empty() ? reserve_range(page) : Status(Done{});
}

Result<SlotId> ExpandableArena::add(Page page) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY(std::byte* const address, find_addresses(page.size));
  if (Status mapped = map(address, page); !mapped) {
    give_back_addresses(address, page.size);
    return std::move(mapped).error();
  }
  ++counts_.access_calls;
  const SlotId slot = take_number(free_slots_, slots_);
  slots_[slot.index()] = {address, page};
  return slot;
}

Result<Page> ExpandableArena::remove(SlotId id) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[id.index()];
  STOWAGE_TRY_STATUS(unmap(slot.address, slot.page.size));
  const Page page = slot.page;
  give_back_addresses(slot.address, page.size);
  slot = {};
  free_slots_.push_back(id);
  return page;
}

/// The lowest addresses without a page that are enough: so an arena grows upwards, and holes fill up first.
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
  const Bytes guard = memory_.granularity();  // so that pages of two ranges are never neighbours
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

// --------------------------------------------------------------------------------------------------------------- views

Result<ViewId> ExpandableArena::stitch(std::span<const SlotId> slots) {
  const std::lock_guard lock(mutex_);
  const Bytes size = size_of(slots);
  Range range{nullptr, size + size};
  STOWAGE_TRY(range.address, memory_.reserve(range.size));
  if (Status mapped = map_all(range.address, slots); !mapped) {
    pass_over(memory_.free(range.address, range.size));
    return std::move(mapped).error();
  }
  const ViewId view = take_number(free_views_, views_);
  views_[view.index()] = {range, {slots.begin(), slots.end()}};
  return view;
}

Status ExpandableArena::replace(ViewId id, std::size_t position, SlotId slot) {
  const std::lock_guard lock(mutex_);
  View& view = views_[id.index()];
  const Page old = slots_[view.slots[position].index()].page;
  const Page page = slots_[slot.index()].page;
  STOWAGE_CHECK(old.size == page.size, "a page takes the place of one of its size");
  std::byte* const address = view.range.address + size_of(std::span(view.slots).first(position)).value();
  STOWAGE_TRY_STATUS(unmap(address, page.size));
  if (Status mapped = map(address, page); !mapped) {
    if (!map(address, old)) cut(view, position);
    return mapped;
  }
  ++counts_.access_calls;
  view.slots[position] = slot;
  return Done{};
}

Status ExpandableArena::append(ViewId id, SlotId slot) {
  const std::lock_guard lock(mutex_);
  View& view = views_[id.index()];
  const Bytes size = size_of(view.slots);
  const Page page = slots_[slot.index()].page;
  if (size + page.size > view.range.size) return Error{ErrorCode::unsupported, "a view has no room for one more page", {}};
  STOWAGE_TRY_STATUS(map(view.range.address + size.value(), page));
  ++counts_.access_calls;
  view.slots.push_back(slot);
  return Done{};
}

Status ExpandableArena::unstitch(ViewId id) {
  const std::lock_guard lock(mutex_);
  View& view = views_[id.index()];
  if (!view.slots.empty()) STOWAGE_TRY_STATUS(unmap(view.range.address, size_of(view.slots)));
  view.slots.clear();
  forget(view);
  free_views_.push_back(id);
  return Done{};
}

void ExpandableArena::forget(View& view) {
  if (const Bytes size = size_of(view.slots); size > Bytes(0)) pass_over(unmap(view.range.address, size));
  pass_over(memory_.free(view.range.address, view.range.size));
  view = {};
}

/// What a view shows from a position on, of which nothing is mapped there, is gone.
void ExpandableArena::cut(View& view, std::size_t position) {
  const std::span<const SlotId> shown = view.slots;
  const Bytes kept = size_of(shown.first(position + 1));
  if (const Bytes rest = size_of(shown.subspan(position + 1)); rest > Bytes(0))
    pass_over(unmap(view.range.address + kept.value(), rest));
  view.slots.resize(position);
}

Bytes ExpandableArena::size_of(std::span<const SlotId> slots) const {
  Bytes size(0);
  for (const SlotId slot : slots) size += slots_[slot.index()].page.size;
  return size;
}

Status ExpandableArena::map_all(std::byte* address, std::span<const SlotId> slots) {
  std::vector<PhysicalRange> ranges;
  for (const SlotId slot : slots) {
    const Page& page = slots_[slot.index()].page;
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

// ------------------------------------------------------------------------------------------------------------- queries

std::byte* ExpandableArena::address(SlotId slot) const {
  const std::lock_guard lock(mutex_);
  return slots_[slot.index()].address;
}

Page ExpandableArena::page(SlotId slot) const {
  const std::lock_guard lock(mutex_);
  return slots_[slot.index()].page;
}

std::byte* ExpandableArena::address(ViewId view) const {
  const std::lock_guard lock(mutex_);
  return views_[view.index()].range.address;
}

Bytes ExpandableArena::room(ViewId view) const {
  const std::lock_guard lock(mutex_);
  return views_[view.index()].range.size;
}

std::vector<SlotId> ExpandableArena::slots(ViewId view) const {
  const std::lock_guard lock(mutex_);
  return views_[view.index()].slots;
}

ExpandableArena::Counts ExpandableArena::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void ExpandableArena::reset_counts() {
  const std::lock_guard lock(mutex_);
  counts_ = {};
}

}  // namespace stowage
