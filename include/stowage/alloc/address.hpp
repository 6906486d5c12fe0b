#pragma once

#include <cstddef>
#include <functional>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

namespace stowage {

struct Tensor;

/// Where a tensor or a workspace lies in real memory.
struct Address {
  Buffer* buffer = nullptr;  ///< None: whoever made the address does not serve this tensor.
  Bytes offset = {};         ///< From the buffer's base.

  /// Null without a buffer, and in a buffer of size 0.
  [[nodiscard]] std::byte* data() const {
    std::byte* const base = buffer == nullptr ? nullptr : buffer->base();
    return base == nullptr ? nullptr : base + offset.value();
  }
  friend bool operator==(const Address&, const Address&) = default;
};

/// What a tensor takes in a buffer of that type: its size, or more where kernels read beyond the
/// end. Empty: its size.
using SizeInBuffer = std::function<Bytes(const Tensor&, const BufferType&)>;

}  // namespace stowage
