#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

/// The interface of all dynamic allocators, which adaptors wrap.
namespace stowage {

/// The figures of an allocator. Peaks and counts are since the start or the last `reset_peaks`.
struct STOWAGE_EXPORT AllocatorStats {
  Bytes requested;  ///< Live bytes, as requested.
  Bytes rounded;    ///< Live bytes, with sizes rounded up.
  Bytes reserved;   ///< The footprint: what the allocator holds of the device.
  Bytes requested_peak;
  Bytes rounded_peak;
  Bytes reserved_peak;
  /// The largest request that idle memory could serve, stitched or moved between streams if needed.
  Bytes largest_idle;

  std::uint64_t live = 0;  ///< Live allocations.
  std::uint64_t allocations = 0;
  std::uint64_t failures = 0;

  // Calls to the device.
  std::uint64_t creates = 0;  ///< Of physical memory or, without virtual memory, of buffers.
  std::uint64_t releases = 0;
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t access_calls = 0;  ///< Ranges made accessible, of any number of pages each.
  std::uint64_t event_waits = 0;   ///< Times that a stream or the host waited for another stream.

  /// 1 - peak requested / peak reserved; 0 if nothing was ever reserved.
  [[nodiscard]] double waste() const;

  friend bool operator==(const AllocatorStats&, const AllocatorStats&) = default;
};

/// The layout of an allocator's memory, for viewers.
struct MemorySnapshot {
  enum class BlockState : std::uint8_t {
    live,
    pending,  ///< Freed, but possibly still in use by a stream.
    idle,
  };
  struct Block {
    std::byte* address = nullptr;
    Bytes size;
    Bytes requested;  ///< 0 if idle; may be rounded up for small blocks.
    BlockState state = BlockState::idle;
  };
  /// A fully mapped range of addresses. The memory of a stitched segment also appears in the
  /// segment that it came from, as live.
  struct Segment {
    std::byte* address = nullptr;
    Bytes size;
    StreamId stream;
    bool stitched = false;
    std::vector<Block> blocks;  ///< Contiguous, in order of addresses.
  };
  DeviceId device;
  std::vector<Segment> segments;
};

/// A stream-ordered allocator: memory allocated for a stream may be used by work submitted to that
/// stream from then on, and memory freed on it may still be used by work submitted before. Thread
/// safety depends on the class.
class STOWAGE_EXPORT Allocator {
 public:
  virtual ~Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  [[nodiscard]] virtual DeviceId device() const = 0;
  /// The alignment of every address; a power of two. Sizes are rounded up to it.
  [[nodiscard]] virtual Bytes alignment() const = 0;

  /// Allocates `size` bytes of unspecified content; returns null for 0. Fails with `invalid` for a
  /// negative size, with `out_of_memory` when nothing can be reclaimed, giving the bytes requested,
  /// live, reserved and idle. A failure has no visible effect.
  virtual Result<std::byte*> allocate(Bytes size, StreamId stream) = 0;

  /// Frees what `allocate` returned for this size and stream; null is ignored. Cannot fail: with
  /// checks on, a double free, an address that is not the start of an allocation, or another size
  /// or stream aborts with a message. Without checks, such a call is ignored or, for small blocks,
  /// the same memory is allocated twice.
  virtual void free(std::byte* address, Bytes size, StreamId stream) = 0;

  /// Records that work submitted to `stream` so far uses the allocation, which belongs to another
  /// stream: once freed, it is not reused before that work is complete. Fails with `invalid` for an
  /// address that is not an allocation, with `unsupported` if the allocator serves only one stream
  /// and this is another.
  virtual Status record_use(std::byte* address, StreamId stream) = 0;

  /// Returns idle memory to the device, as much as possible without waiting for work. Returns the
  /// number of bytes.
  virtual Bytes trim() = 0;

  [[nodiscard]] virtual AllocatorStats stats() const = 0;
  /// Sets peaks to the current values and counts to 0.
  virtual void reset_peaks() = 0;
  [[nodiscard]] virtual MemorySnapshot snapshot() const = 0;

 protected:
  Allocator() = default;
};

}  // namespace stowage
