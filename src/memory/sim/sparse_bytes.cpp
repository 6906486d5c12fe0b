#include "memory/sim/sparse_bytes.hpp"

#include <algorithm>

namespace stowage::memory {
namespace {

constexpr Bytes kChunk{std::int64_t{64} << 10};

}  // namespace

template <class Visitor>
void SparseBytes::for_each_chunk(ByteRange range, Visitor&& visitor) {
  for (Bytes at = range.lower; at < range.upper;) {
    const std::int64_t number = at.value() / kChunk.value();
    const Bytes start(number * kChunk.value());
    const Bytes end = std::min(range.upper, start + kChunk);
    visitor(number, ByteRange{at - start, end - start}, at - range.lower);
    at = end;
  }
}

SparseBytes::Chunk& SparseBytes::chunk(std::int64_t number) {
  const auto [entry, is_new] = chunks_.try_emplace(number);
  if (is_new) entry->second.assign(static_cast<std::size_t>(kChunk.value()), std::byte{value_});
  return entry->second;
}

void SparseBytes::fill(ByteRange range, std::uint8_t value) {
  if (range == ByteRange{Bytes(0), size_}) {
    chunks_.clear();
    value_ = value;
    return;
  }
  for_each_chunk(range, [&](std::int64_t number, ByteRange inside, Bytes) {
    std::fill_n(chunk(number).begin() + inside.lower.value(), inside.length().value(), std::byte{value});
  });
}

void SparseBytes::write(Bytes offset, std::span<const std::byte> from) {
  const ByteRange range{offset, offset + Bytes(static_cast<std::int64_t>(from.size()))};
  for_each_chunk(range, [&](std::int64_t number, ByteRange inside, Bytes at) {
    std::copy_n(from.begin() + at.value(), inside.length().value(), chunk(number).begin() + inside.lower.value());
  });
}

void SparseBytes::read(Bytes offset, std::span<std::byte> to) const {
  const ByteRange range{offset, offset + Bytes(static_cast<std::int64_t>(to.size()))};
  for_each_chunk(range, [&](std::int64_t number, ByteRange inside, Bytes at) {
    const auto found = chunks_.find(number);
    if (found == chunks_.end()) {
      std::fill_n(to.begin() + at.value(), inside.length().value(), std::byte{value_});
    } else {
      std::copy_n(found->second.begin() + inside.lower.value(), inside.length().value(), to.begin() + at.value());
    }
  });
}

Bytes SparseBytes::footprint() const { return Bytes(static_cast<std::int64_t>(chunks_.size()) * kChunk.value()); }

}  // namespace stowage::memory
