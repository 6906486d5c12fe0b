#include "replay/torch/expandable.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage::replaying {
namespace {

/// Addresses per segment. PyTorch reserves 9/8 of the device's memory;
/// in any case, a full segment is followed by another.
constexpr Bytes kAddresses{std::int64_t{64} << 30};

Bytes round_up(Bytes size, Bytes unit) {
  return Bytes((size.value() + unit.value() - 1) / unit.value() * unit.value());
}

/// The size to which the block could grow by mapping the addresses after it.
Bytes reach(const TorchBlock& block) {
  const bool can_grow = block.after != nullptr && !block.after->mapped;
  return can_grow ? block.size + block.after->size : block.size;
}

/// Whether this block and the idle ones after it, mapped or not, have this many bytes together.
bool has_room(const TorchBlock* block, Bytes size) {
  Bytes room;
  for (; block != nullptr && block->idle() && room < size; block = block->after) room += block->size;
  return room >= size;
}

}  // namespace

Result<std::unique_ptr<Allocator>> TorchExpandableModel::make(Device& device) {
  VirtualMemory* const pages = device.virtual_memory();
  if (pages == nullptr) {
    return Error{ErrorCode::unsupported, fmt::format("{}: expandable segments need virtual memory", device.name()), {}};
  }
  return std::unique_ptr<Allocator>(new TorchExpandableModel(device, *pages));
}

TorchExpandableModel::~TorchExpandableModel() {
  trim();
  for (auto& [address, segment] : segments_) {
    while (!segment.pages.empty() && unmap_page(segment, segment.pages.begin()->first)) {
    }
    (void)pages_.free(segment.address, segment.size);
  }
}

Bytes TorchExpandableModel::page_of(const TorchPool& pool) const {
  return round_up(pool.small ? kSmallSegment : kLargeSegment, pages_.granularity());
}

std::set<TorchBlock*, TorchBySize>::iterator TorchExpandableModel::find(TorchPool& pool, Bytes size) {
  auto found = best_fit(pool, size);
  if (found == pool.idle.end()) return found;
  for (auto next = std::next(found); next != pool.idle.end() && reach(**next) < reach(**found); ++next) found = next;
  return found;
}

// --------------------------------------------------------------------------------------------------------------- grow

Result<TorchBlock*> TorchExpandableModel::grow(TorchPool& pool, Bytes size) {
  STOWAGE_TRY(TorchBlock * block, room_for(pool, size));
  if (!block->mapped) STOWAGE_TRY_STATUS(map_block(*block, std::min(block->size, size)));
  while (block->size < size) {
    TorchBlock* const next = block->after;
    STOWAGE_CHECK(next != nullptr && !next->mapped, "adjacent idle blocks must have been merged");
    STOWAGE_TRY_STATUS(map_block(*next, std::min(size - block->size, next->size)));
    block = next;
  }
  pool.idle.erase(block);
  return block;
}

/// The lowest place with enough addresses; idle memory right before unmapped addresses counts too.
Result<TorchBlock*> TorchExpandableModel::room_for(TorchPool& pool, Bytes size) {
  for (TorchBlock* block : pool.unmapped) {
    if (block->before != nullptr && block->before->idle()) block = block->before;
    if (has_room(block, size)) return block;
  }
  return add_segment(pool, size);
}

Result<TorchBlock*> TorchExpandableModel::add_segment(TorchPool& pool, Bytes size) {
  const Bytes page = page_of(pool);
  const Bytes addresses = round_up(std::max(size, kAddresses), page);
  STOWAGE_TRY(std::byte* const address, pages_.reserve(addresses));
  segments_.emplace(address, Segment{address, addresses, page});
  TorchBlock& block = blocks().make(pool, address, addresses);
  block.mapped = false;
  pool.unmapped.insert(&block);
  return &block;
}

TorchExpandableModel::Segment& TorchExpandableModel::segment_at(const std::byte* address) {
  return std::prev(segments_.upper_bound(address))->second;
}

/// Maps the first pages of an unmapped block, as many as `size` needs, and merges them with adjacent idle memory.
/// Afterwards `block` is the merged block.
Status TorchExpandableModel::map_block(TorchBlock& block, Bytes size) {
  Segment& segment = segment_at(block.address);
  const Bytes mapped = std::min(block.size, round_up(size, segment.page));
  const auto first = static_cast<std::size_t>((block.address - segment.address) / segment.page.value());
  STOWAGE_TRY_STATUS(
      map_pages(segment, first, first + static_cast<std::size_t>(mapped.value() / segment.page.value())));
  block.pool->unmapped.erase(&block);
  if (mapped < block.size) block.pool->unmapped.insert(&blocks().split(block, mapped));
  block.mapped = true;
  account().reserved(mapped);
  ++account().stats().access_calls;
  settle(block);
  return Done{};
}

/// Maps all of them or none.
Status TorchExpandableModel::map_pages(Segment& segment, std::size_t first, std::size_t last) {
  for (std::size_t place = first; place < last; ++place) {
    Status mapped = map_page(segment, place);
    if (mapped) continue;
    while (place > first) unmap_page(segment, --place);
    return mapped;
  }
  return Done{};
}

Status TorchExpandableModel::map_page(Segment& segment, std::size_t place) {
  if (segment.pages.contains(place)) return Done{};  // from an earlier attempt that could not be undone
  STOWAGE_TRY(const PhysicalId physical, pages_.create(segment.page));
  std::byte* const address = segment.address + static_cast<std::int64_t>(place) * segment.page.value();
  if (Status mapped = pages_.map(address, physical, Bytes(0), segment.page); !mapped) {
    (void)pages_.release(physical);
    return mapped;
  }
  ++account().stats().creates;
  ++account().stats().maps;
  segment.pages.emplace(place, physical);
  return Done{};
}

// ------------------------------------------------------------------------------------------------------------ release

bool TorchExpandableModel::unmap_page(Segment& segment, std::size_t place) {
  const auto page = segment.pages.find(place);
  if (!pages_.unmap(segment.address + static_cast<std::int64_t>(place) * segment.page.value(), segment.page))
    return false;
  (void)pages_.release(page->second);
  segment.pages.erase(page);
  ++account().stats().unmaps;
  ++account().stats().releases;
  return true;
}

void TorchExpandableModel::release(TorchPool& pool) {
  const std::vector<TorchBlock*> idle(pool.idle.begin(), pool.idle.end());
  for (TorchBlock* const block : idle) unmap_block(*block);
}

/// Unmaps the whole pages in the block, until one fails; what is left before and after them stays idle.
void TorchExpandableModel::unmap_block(TorchBlock& block) {
  Segment& segment = segment_at(block.address);
  const Bytes lower = round_up(Bytes(block.address - segment.address), segment.page);
  const Bytes end = Bytes(block.address - segment.address) + block.size;
  Bytes upper = lower;
  while (upper + segment.page <= end &&
         unmap_page(segment, static_cast<std::size_t>(upper.value() / segment.page.value()))) {
    upper += segment.page;
  }
  if (lower == upper) return;
  TorchPool& pool = *block.pool;
  pool.idle.erase(&block);
  if (upper < end) pool.idle.insert(&blocks().split(block, block.size - (end - upper)));
  TorchBlock* whole = &block;
  if (block.size > upper - lower) {
    whole = &blocks().split(block, block.size - (upper - lower));
    pool.idle.insert(&block);
  }
  account().returned(upper - lower);
  whole->mapped = false;
  settle(*whole);
}

}  // namespace stowage::replaying
