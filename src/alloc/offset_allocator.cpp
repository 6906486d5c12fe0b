#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "stowage/alloc.hpp"

namespace stowage {
namespace {

#ifdef NDEBUG
constexpr bool kLiveListByDefault = false;
#else
constexpr bool kLiveListByDefault = true;
#endif

using ChunkOffset = OffsetAllocator::ChunkOffset;

Error wrong_place(ChunkOffset place, Bytes size, std::string_view why) {
  return {.code = ErrorCode::invalid,
          .message = fmt::format("{} bytes at offset {} of chunk {} cannot be freed: {}", size.value(),
                                 place.offset.value(), place.chunk, why)};
}

}  // namespace

OffsetAllocator::OffsetAllocator(OffsetAllocatorOptions options)
    : options_(std::move(options)),
      has_live_list_(options_.live_list == Checks::automatic ? kLiveListByDefault : options_.live_list == Checks::on) {
  STOWAGE_CHECK(is_power_of_two(options_.alignment), "an alignment is a power of two");
  STOWAGE_CHECK(!options_.max_chunk_size || *options_.max_chunk_size > Bytes(0), "a chunk has a positive size");
  STOWAGE_CHECK(Bytes(0) <= options_.capacity && options_.capacity <= kMaxBytes, "a capacity out of range");
}

// ----------------------------------------------------------------------------------------------------------- allocate

std::optional<ChunkOffset> OffsetAllocator::allocate(Bytes size, std::string_view name) {
  STOWAGE_CHECK(Bytes(0) <= size && size <= kMaxBytes, "a size out of range");
  if (size == Bytes(0)) return ChunkOffset{};
  const Bytes rounded = align_up(size, options_.alignment);
  const Bytes max_size_before = max_size_;
  std::optional<ChunkOffset> place = take_inner(rounded);
  if (!place) place = take_tail(rounded);
  if (!place) return std::nullopt;
  in_use_ += rounded;
  if (has_live_list_) live_.emplace(*place, Live{*place, size, std::string(name)});
  if (max_size_ > max_size_before && options_.on_peak) options_.on_peak(*this);
  return place;
}

std::optional<ChunkOffset> OffsetAllocator::take_inner(Bytes size) {
  const auto best = inner_by_size_.lower_bound({size, ChunkOffset{}});
  if (best == inner_by_size_.end()) return std::nullopt;
  const ChunkOffset place = best->second;
  const auto block = inner_.find(place);
  const Bytes upper = block->second;
  remove_inner(block);
  insert_inner({place.chunk, place.offset + size}, upper);
  return place;
}

std::optional<ChunkOffset> OffsetAllocator::take_tail(Bytes size) {
  std::optional<std::size_t> chunk = chunk_with_tail(size);
  const Bytes paid = chunk ? chunks_[*chunk].paid_room() : Bytes(0);
  // The chunk grows by the smallest possible amount, so no other choice could stay within the capacity either.
  if (size > paid && size - paid > options_.capacity - max_size_) return std::nullopt;
  if (!chunk) chunk = add_chunk(size);
  if (!chunk) return std::nullopt;
  const ChunkOffset place{*chunk, chunks_[*chunk].end};
  move_end(*chunk, place.offset + size);
  return place;
}

std::optional<std::size_t> OffsetAllocator::chunk_with_tail(Bytes size) const {
  if (const auto paid = tails_by_paid_room_.lower_bound({size, 0}); paid != tails_by_paid_room_.end())
    return paid->second;
  std::optional<std::size_t> best;
  for (auto tail = tails_by_room_.lower_bound({size, 0}); tail != tails_by_room_.end(); ++tail) {
    if (!best || chunks_[tail->second].paid_room() > chunks_[*best].paid_room()) best = tail->second;
  }
  return best;
}

std::optional<std::size_t> OffsetAllocator::add_chunk(Bytes size) {
  if (options_.max_chunks && chunks_.size() >= *options_.max_chunks) return std::nullopt;
  const std::size_t chunk = chunks_.size();
  chunks_.push_back(
      {.end = Bytes(0), .limit = std::max(size, options_.max_chunk_size.value_or(kMaxBytes)), .max_size = Bytes(0)});
  move_end(chunk, Bytes(0));
  return chunk;
}

void OffsetAllocator::move_end(std::size_t chunk, Bytes end) {
  Chunk& moved = chunks_[chunk];
  tails_by_room_.erase({moved.room(), chunk});
  tails_by_paid_room_.erase({moved.paid_room(), chunk});
  moved.end = end;
  max_size_ += std::max(Bytes(0), end - moved.max_size);
  moved.max_size = std::max(moved.max_size, end);
  tails_by_room_.emplace(moved.room(), chunk);
  tails_by_paid_room_.emplace(moved.paid_room(), chunk);
}

void OffsetAllocator::insert_inner(ChunkOffset place, Bytes upper) {
  if (place.offset == upper) return;
  inner_.emplace(place, upper);
  inner_by_size_.emplace(upper - place.offset, place);
}

void OffsetAllocator::remove_inner(InnerBlocks::const_iterator block) {
  inner_by_size_.erase({block->second - block->first.offset, block->first});
  inner_.erase(block);
}

// --------------------------------------------------------------------------------------------------------------- free

Status OffsetAllocator::free(ChunkOffset place, Bytes size) { return shrink(place, size, Bytes(0)); }

Status OffsetAllocator::shrink(ChunkOffset place, Bytes from, Bytes to) {
  if (from == Bytes(0) && to == Bytes(0)) return Done{};
  STOWAGE_TRY_STATUS(check_in_use(place, from));
  if (to < Bytes(0) || to > from)
    return wrong_place(place, from, fmt::format("they cannot become {} bytes", to.value()));
  if (has_live_list_) {
    STOWAGE_TRY_STATUS(check_live(place, from));
    if (to == Bytes(0)) {
      live_.erase(place);
    } else {
      live_.find(place)->second.size = to;
    }
  }
  const Bytes lower = place.offset + align_up(to, options_.alignment);
  const Bytes upper = place.offset + align_up(from, options_.alignment);
  if (lower < upper) release({place.chunk, lower}, upper);
  return Done{};
}

void OffsetAllocator::release(ChunkOffset place, Bytes upper) {
  in_use_ -= upper - place.offset;
  if (const auto after = inner_.find({place.chunk, upper}); after != inner_.end()) {
    upper = after->second;
    remove_inner(after);
  }
  const auto next = inner_.lower_bound(place);
  if (next != inner_.begin()) {
    const auto before = std::prev(next);
    if (before->first.chunk == place.chunk && before->second == place.offset) {
      place = before->first;
      remove_inner(before);
    }
  }
  if (upper == chunks_[place.chunk].end) {
    move_end(place.chunk, place.offset);
  } else {
    insert_inner(place, upper);
  }
}

Status OffsetAllocator::check_in_use(ChunkOffset place, Bytes size) const {
  if (place.chunk >= chunks_.size()) return wrong_place(place, size, "there is no such chunk");
  if (size < Bytes(0) || size > kMaxBytes || place.offset < Bytes(0) || !is_aligned(place.offset, options_.alignment)) {
    return wrong_place(place, size, "no allocation can have this offset and size");
  }
  const Bytes rounded = align_up(size, options_.alignment);
  const Bytes end = chunks_[place.chunk].end;
  bool has_free_bytes = place.offset > end || rounded > end - place.offset;
  const auto next = inner_.lower_bound(place);
  if (!has_free_bytes && next != inner_.end() && next->first.chunk == place.chunk) {
    has_free_bytes = next->first.offset < place.offset + rounded;
  }
  if (!has_free_bytes && next != inner_.begin()) {
    const auto before = std::prev(next);
    has_free_bytes = before->first.chunk == place.chunk && before->second > place.offset;
  }
  if (has_free_bytes) return wrong_place(place, size, "they are not in use: freed twice, or never allocated");
  return Done{};
}

Status OffsetAllocator::check_live(ChunkOffset place, Bytes size) const {
  // Every byte in use belongs to an allocation. The one that contains the first byte is the last that starts at or
  // before it.
  const auto found = std::prev(live_.upper_bound(place));
  const auto& [start, label] = *found;
  if (start == place && label.size == size) return Done{};
  return wrong_place(
      place, size,
      fmt::format("no such allocation; these bytes are in use by {}", to_string(Live{start, label.size, label.name})));
}

// ------------------------------------------------------------------------------------------------------------ queries

void OffsetAllocator::reset() { *this = OffsetAllocator(std::move(options_)); }

Bytes OffsetAllocator::max_size(std::size_t chunk) const {
  return chunk < chunks_.size() ? chunks_[chunk].max_size : Bytes(0);
}

std::vector<OffsetAllocator::Live> OffsetAllocator::live() const {
  std::vector<Live> result;
  result.reserve(live_.size());
  for (const auto& [place, live] : live_) result.push_back(live);
  return result;
}

std::string to_string(const OffsetAllocator::Live& live) {
  return fmt::format("{} [{}, {}) of chunk {}", live.name.empty() ? "unnamed" : live.name, live.place.offset.value(),
                     (live.place.offset + live.size).value(), live.place.chunk);
}

}  // namespace stowage
