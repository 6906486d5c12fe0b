#pragma once

#include <memory>
#include <optional>

#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

/// What every allocator over a device does alike.
namespace stowage::runtime {

/// A pool for the device's pages; null where it has no virtual memory.
[[nodiscard]] std::unique_ptr<PhysicalPool> make_pool(Device& device, std::optional<Bytes> limit);

/// The wish rounded up to what the pool's memory can do; as it is without a pool.
[[nodiscard]] Bytes least_page_of(const PhysicalPool* pool, Bytes wish);

/// Whether all work that was submitted to the stream is complete, as far as the device can say without waiting.
[[nodiscard]] bool is_quiet(Device& device, StreamId stream);

/// The answer to a request that no memory can meet: null for 0 bytes, and an error for less, or for more than there can
/// be.
[[nodiscard]] Result<std::byte*> answer_without_memory(Bytes size);

}  // namespace stowage::runtime
