#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

/// Memory for work whose sizes are known only when it runs: what every allocator of this module
/// offers, and what adaptors wrap.
namespace stowage {

/// Where an allocator stands. Peaks and counts are since the start or the last `reset_peaks`.
struct STOWAGE_EXPORT AllocatorStats {
  Bytes requested;  ///< Live bytes, as they were asked for.
  Bytes rounded;    ///< The same with what rounding adds.
  Bytes reserved;   ///< What the allocator holds of the device: the footprint.
  Bytes requested_peak;
  Bytes rounded_peak;
  Bytes reserved_peak;
  Bytes largest_idle;  ///< The largest request that idle memory would meet, stitched or moved
                       ///< between streams if need be.

  std::uint64_t live = 0;  ///< Allocations.
  std::uint64_t allocations = 0;
  std::uint64_t failures = 0;

  // Calls to the device.
  std::uint64_t creates = 0;  ///< Of physical memory or, without virtual memory, of buffers.
  std::uint64_t releases = 0;
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t access_calls = 0;  ///< Ranges made accessible, each once, of however many pages.
  std::uint64_t event_waits = 0;   ///< A stream or the host waits for another stream.

  /// 1 - peak requested / peak reserved; 0 where nothing was ever reserved.
  [[nodiscard]] double waste() const;

  friend bool operator==(const AllocatorStats&, const AllocatorStats&) = default;
};

/// What lies where, for viewers.
struct MemorySnapshot {
  enum class BlockState : std::uint8_t {
    live,
    pending,  ///< Freed, but a stream may still use it.
    idle,
  };
  struct Block {
    std::byte* address = nullptr;
    Bytes size;
    Bytes requested;  ///< 0 where idle; of small blocks perhaps rounded up.
    BlockState state = BlockState::idle;
  };
  /// A range of addresses with memory behind all of it. What a stitched range shows is also shown
  /// where it came from, there as live.
  struct Segment {
    std::byte* address = nullptr;
    Bytes size;
    StreamId stream;
    bool stitched = false;
    std::vector<Block> blocks;  ///< Without gaps, in the order of addresses.
  };
  DeviceId device;
  std::vector<Segment> segments;
};

/// A source of memory in the order of streams: what is allocated for a stream may be used by work
/// that is submitted to it from then on, and what is freed there may still be used by work that was
/// submitted before. Thread safety is each class's own.
class STOWAGE_EXPORT Allocator {
 public:
  virtual ~Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  [[nodiscard]] virtual DeviceId device() const = 0;
  /// Of every address; a power of two. Sizes are rounded up to it.
  [[nodiscard]] virtual Bytes alignment() const = 0;

  /// `size` bytes of unspecified content; a null pointer for 0. Fails with `invalid` below 0, with
  /// `out_of_memory` when all means are exhausted, saying what was asked, what is live, reserved
  /// and idle; nothing has changed then that anybody relies on.
  virtual Result<std::byte*> allocate(Bytes size, StreamId stream) = 0;

  /// Takes back what `allocate` returned for this size and stream; null is nothing to do. Cannot
  /// fail: allocators with checks on abort with a message on a double free, an address that is not
  /// (the start of) an allocation, another size or stream. Others ignore it or, for small blocks,
  /// give the same memory out twice.
  virtual void free(std::byte* address, Bytes size, StreamId stream) = 0;

  /// Says that work submitted to `stream` so far uses the allocation, which belongs to another
  /// stream: once freed, it waits for that work. Fails with `invalid` for an address that is not an
  /// allocation, with `unsupported` where the allocator serves one stream only and this is another.
  virtual Status record_use(std::byte* address, StreamId stream) = 0;

  /// Returns idle memory to the device, as much as it can without waiting for work; says how much
  /// that was.
  virtual Bytes trim() = 0;

  [[nodiscard]] virtual AllocatorStats stats() const = 0;
  /// Peaks are now what is live and reserved now; counts are 0.
  virtual void reset_peaks() = 0;
  [[nodiscard]] virtual MemorySnapshot snapshot() const = 0;

 protected:
  Allocator() = default;
};

}  // namespace stowage
