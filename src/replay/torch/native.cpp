#include "replay/torch/native.hpp"

#include <algorithm>

#include "alloc/interface/aligned_buffer.hpp"

namespace stowage::replaying {
namespace {

constexpr Bytes kLeastOwnSegment{std::int64_t{10} << 20};
constexpr Bytes kSegmentRounding{std::int64_t{2} << 20};

Bytes segment_size(const TorchPool& pool, Bytes size) {
  if (pool.small) return TorchModel::kSmallSegment;
  if (size < kLeastOwnSegment) return TorchModel::kLargeSegment;
  return align_up(size, kSegmentRounding);
}

}  // namespace

TorchNativeModel::~TorchNativeModel() { trim(); }

/// Blocks start at multiples of 512 within a segment; the segment's own alignment is that of its buffer type.
Bytes TorchNativeModel::alignment() const { return std::min(kRounding, memory().buffer_type().alignment()); }

Result<TorchBlock*> TorchNativeModel::grow(TorchPool& pool, Bytes size) {
  const Bytes wanted = segment_size(pool, size);
  bool unaligned = false;
  STOWAGE_TRY(std::unique_ptr<Buffer> buffer,
              alloc::allocate_aligned(memory().buffer_type(), wanted, alignment(), unaligned));
  ++account().stats().creates;
  account().reserved(buffer->size());
  std::byte* const address = buffer->base() + alloc::gap_before(*buffer, alignment()).value();
  segments_.emplace(address, std::move(buffer));
  return &blocks().make(pool, address, wanted);
}

bool TorchNativeModel::splits(const TorchPool& pool, Bytes rest) const {
  return pool.small ? rest >= kRounding : rest > kLargestSmall;
}

void TorchNativeModel::release(TorchPool& pool) {
  for (auto each = pool.idle.begin(); each != pool.idle.end();) {
    TorchBlock& block = **each;
    const bool whole = block.before == nullptr && block.after == nullptr;
    each = whole ? pool.idle.erase(each) : std::next(each);
    if (!whole) continue;
    const auto segment = segments_.find(block.address);
    account().returned(segment->second->size());
    ++account().stats().releases;
    segments_.erase(segment);
    blocks().drop(block);
  }
}

}  // namespace stowage::replaying
