#pragma once

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

#include "stowage/base.hpp"
#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/caching_allocator.hpp"

/// Allocators as `std::pmr` resources, and `std::pmr` resources as allocators.
namespace stowage {

/// A `std::pmr` resource over an allocator of host-visible memory, which must outlive it. Every
/// failure is a `std::bad_alloc`, because the standard's interface has nothing else.
///
/// For an alignment above the allocator's, it allocates `alignment + sizeof(void*)` more bytes and
/// stores the start of the allocation right before the returned address. An alignment that is not a
/// power of two is a `bad_alloc`. A request of 0 bytes takes 1.
///
/// Memory may be used by the host and by work on the stream. Before freeing memory that is used by
/// other work, wait for that work. As thread-safe as the allocator.
class STOWAGE_EXPORT PmrResource final : public std::pmr::memory_resource {
 public:
  explicit PmrResource(Allocator& allocator, StreamId stream = {})
      : allocator_(allocator), stream_(stream) {}

  [[nodiscard]] Allocator& allocator() const { return allocator_; }
  [[nodiscard]] StreamId stream() const { return stream_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* address, std::size_t bytes, std::size_t alignment) override;
  /// Resources over the same allocator and stream can free each other's memory.
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  Allocator& allocator_;
  StreamId stream_;
};

struct PmrAllocatorOptions {
  Bytes alignment{64};  ///< Of every address and size; a power of two.
  DeviceId device{};    ///< The device whose memory the resource provides; default: the CPU.
  Checks checks = Checks::automatic;
};

/// An allocator over a `std::pmr` resource, which must outlive it. Every allocation and free is
/// passed on immediately. Streams are ignored, so all work that uses the memory must be complete
/// when it is freed. The footprint is what is live; there is nothing to trim. `std::bad_alloc`
/// becomes `out_of_memory`, any other exception `device` with its message.
///
/// Thread-safe if the resource is. O(log n) per call for n live allocations.
class STOWAGE_EXPORT PmrAllocator final : public Allocator {
 public:
  explicit PmrAllocator(std::pmr::memory_resource& resource) : PmrAllocator(resource, {}) {}
  /// Precondition: the alignment is a power of two (checked).
  PmrAllocator(std::pmr::memory_resource& resource, PmrAllocatorOptions options);
  /// Does not free what is still live; that is left to the resource.
  ~PmrAllocator() override = default;

  [[nodiscard]] DeviceId device() const override { return options_.device; }
  [[nodiscard]] Bytes alignment() const override { return options_.alignment; }
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  Bytes trim() override { return Bytes(0); }
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;
  /// Every allocation is a separate segment.
  [[nodiscard]] MemorySnapshot snapshot() const override;

 private:
  struct Block {
    Bytes requested;
    StreamId stream;
  };

  Result<std::byte*> ask(Bytes size);
  void enter(std::byte* address, Block block);
  void check_free(const std::byte* address, const Block* block, Block given) const;
  Error failed(Error error);
  [[nodiscard]] Bytes rounded(Bytes size) const { return align_up(size, options_.alignment); }

  std::pmr::memory_resource& resource_;
  const PmrAllocatorOptions options_;
  mutable std::mutex mutex_;
  std::map<std::byte*, Block> live_;
  AllocatorStats stats_;
};

}  // namespace stowage
