#pragma once

#include <cstddef>
#include <functional>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

namespace stowage {

struct Tensor;

/// The address of a tensor or workspace in real memory.
struct Address {
  /// Null: the tensor is not served by the allocator that returned this.
  Buffer* buffer = nullptr;
  Bytes offset = {};  ///< From the buffer's base.

  /// Null without a buffer and for a buffer of size 0.
  [[nodiscard]] std::byte* data() const {
    std::byte* const base = buffer == nullptr ? nullptr : buffer->base();
    return base == nullptr ? nullptr : base + offset.value();
  }
  friend bool operator==(const Address&, const Address&) = default;
};

/// The bytes that a tensor takes in a buffer of a type: its size, or more if kernels read beyond
/// its end. Empty: its size.
using SizeInBuffer = std::function<Bytes(const Tensor&, const BufferType&)>;

}  // namespace stowage
