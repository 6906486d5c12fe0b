#pragma once

#include <memory>
#include <optional>

#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

/// Functions that all allocators over a device share.
namespace stowage::runtime {

/// A pool for the device's pages; null if the device has no virtual memory.
[[nodiscard]] std::unique_ptr<PhysicalPool> make_pool(Device& device, std::optional<Bytes> limit);

/// An error, `invalid`, if the pool is of another device than `device`.
[[nodiscard]] std::optional<Error> refuse_pool(const Device& device, const PhysicalPool* pool);

/// `wish` rounded up to the granularity of the pool's memory; unchanged without a pool.
[[nodiscard]] Bytes least_page_of(const PhysicalPool* pool, Bytes wish);

/// Whether all work that was submitted to the stream is complete, as far as the device can say without waiting.
[[nodiscard]] bool is_quiet(Device& device, StreamId stream);

/// The answer to a request that needs no memory or cannot be served at all: null for 0 bytes, and an error for negative
/// sizes and for sizes above the maximum.
[[nodiscard]] Result<std::byte*> answer_without_memory(Bytes size);

}  // namespace stowage::runtime
