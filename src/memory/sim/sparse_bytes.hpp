#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::memory {

/// The content of simulated memory. Uses host memory only for what was written, so that a replay may use a device that
/// is larger than the machine. Precondition: ranges are within [0, size). Not thread-safe.
class SparseBytes {
 public:
  SparseBytes(Bytes size, std::uint8_t value) : size_(size), value_(value) {}

  void fill(ByteRange range, std::uint8_t value);
  void write(Bytes offset, std::span<const std::byte> from);
  void read(Bytes offset, std::span<std::byte> to) const;

  [[nodiscard]] Bytes size() const { return size_; }
  /// Bytes of host memory that the content uses.
  [[nodiscard]] Bytes footprint() const;

 private:
  using Chunk = std::vector<std::byte>;
  /// Calls `visitor(chunk number, range inside the chunk, the same range relative to range.lower)` for every chunk that
  /// overlaps `range`.
  template <class Visitor>
  static void for_each_chunk(ByteRange range, Visitor&& visitor);
  Chunk& chunk(std::int64_t number);

  Bytes size_;
  std::uint8_t value_;  ///< The value of bytes outside all chunks.
  std::map<std::int64_t, Chunk> chunks_;
};

}  // namespace stowage::memory
