#pragma once

#include <optional>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

namespace stowage {

/// Places one after the other in a buffer, never freed one by one. The equivalent of ggml_tallocr.
/// Every address (not every offset: the base may be unaligned) is a multiple of the buffer type's
/// alignment; the end of a place is not rounded, so that the last one may fill the buffer.
///
/// A value: copy it to return to this state later. The buffer must outlive it and is not touched.
/// Not thread-safe.
class STOWAGE_EXPORT LinearAllocator {
 public:
  explicit LinearAllocator(const Buffer& buffer) : buffer_(&buffer) {}

  /// Takes `size` bytes and returns their offset from the buffer's base. Nothing, and no change,
  /// when the buffer is exhausted. Size 0 takes nothing and always succeeds, at
  /// the end of the buffer where no aligned address is left. Precondition: 0 <= size <= kMaxBytes.
  [[nodiscard]] std::optional<Bytes> allocate(Bytes size);
  /// How much larger the buffer would have to be for `allocate(size)` to succeed; 0 if it would.
  [[nodiscard]] Bytes missing(Bytes size) const;

  /// From the base to the end of the last place, alignment gaps included; 0 at first.
  [[nodiscard]] Bytes used() const { return used_; }
  /// The largest size that `allocate` can grant now.
  [[nodiscard]] Bytes remaining() const;
  [[nodiscard]] const Buffer& buffer() const { return *buffer_; }

 private:
  /// The offset of the first aligned address behind what is used; may lie beyond the buffer.
  [[nodiscard]] Bytes next() const;

  const Buffer* buffer_;
  Bytes used_;
};

}  // namespace stowage
