#pragma once

#include <optional>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

namespace stowage {

/// Allocates consecutive places in a buffer; they cannot be freed individually. The equivalent of
/// ggml_tallocr. Every address (not every offset: the base may be unaligned) is a multiple of the
/// buffer type's alignment. Sizes are not rounded, so the last place may fill the buffer.
///
/// A value: copy it to return to its state later. The buffer must outlive it and is not accessed.
/// Not thread-safe.
class STOWAGE_EXPORT LinearAllocator {
 public:
  explicit LinearAllocator(const Buffer& buffer) : buffer_(&buffer) {}

  /// Takes `size` bytes and returns their offset from the buffer's base. Nothing, and no change,
  /// when the buffer is exhausted. Size 0 takes nothing and always succeeds; if no aligned address
  /// is left, at the end of the buffer. Precondition: 0 <= size <= kMaxBytes.
  [[nodiscard]] std::optional<Bytes> allocate(Bytes size);
  /// How much larger the buffer would have to be for `allocate(size)` to succeed; 0 if it would.
  [[nodiscard]] Bytes missing(Bytes size) const;

  /// From the base to the end of the last place, alignment gaps included; initially 0.
  [[nodiscard]] Bytes used() const { return used_; }
  /// The largest size that `allocate` can grant now.
  [[nodiscard]] Bytes remaining() const;
  [[nodiscard]] const Buffer& buffer() const { return *buffer_; }

 private:
  /// The offset of the first aligned address after the used part; may lie beyond the buffer.
  [[nodiscard]] Bytes next() const;

  const Buffer* buffer_;
  Bytes used_;
};

}  // namespace stowage
