#pragma once

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

#include "stowage/base.hpp"
#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/caching_allocator.hpp"

/// Allocators for the standard library's containers, and the standard library's resources as
/// allocators.
namespace stowage {

/// A resource for `std::pmr` over an allocator whose memory the host may touch. The allocator must
/// outlive it. Failures are exceptions here, `std::bad_alloc` whatever the reason, because the
/// standard's interface has nothing else.
///
/// An alignment above the allocator's is served by asking for `alignment + sizeof(void*)` bytes
/// more, and writing where the allocation begins right in front of what is returned; one that is no
/// power of two is a `bad_alloc`. 0 bytes take one.
///
/// Memory is used by the host and by work on the stream. The allocator knows the order of that
/// stream only: whoever gives memory back that other work still uses has to wait first. Thread
/// safety: the allocator's.
class STOWAGE_EXPORT PmrResource final : public std::pmr::memory_resource {
 public:
  explicit PmrResource(Allocator& allocator, StreamId stream = {})
      : allocator_(allocator), stream_(stream) {}

  [[nodiscard]] Allocator& allocator() const { return allocator_; }
  [[nodiscard]] StreamId stream() const { return stream_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* address, std::size_t bytes, std::size_t alignment) override;
  /// Resources over the same allocator and stream free each other's memory.
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  Allocator& allocator_;
  StreamId stream_;
};

struct PmrAllocatorOptions {
  Bytes alignment{64};  ///< Of every address and size; a power of two.
  DeviceId device{};    ///< Whose memory the resource gives; the CPU's unless told otherwise.
  Checks checks = Checks::automatic;
};

/// An allocator over any resource of `std::pmr`, which must outlive it. Every allocation asks the
/// resource, and every free goes back to it, at once: streams mean nothing here, so whatever uses
/// the memory must be complete by then. The footprint is what is live; there is nothing to trim.
/// `std::bad_alloc` becomes `out_of_memory`, any other exception `device` with its words.
///
/// Thread-safe where the resource is. Each live allocation has an entry in a table: O(log n).
class STOWAGE_EXPORT PmrAllocator final : public Allocator {
 public:
  explicit PmrAllocator(std::pmr::memory_resource& resource) : PmrAllocator(resource, {}) {}
  /// Aborts on an alignment that is no power of two: it is the program's, not its input's.
  PmrAllocator(std::pmr::memory_resource& resource, PmrAllocatorOptions options);
  /// What is still live stays with the resource, which may free it or not.
  ~PmrAllocator() override = default;

  [[nodiscard]] DeviceId device() const override { return options_.device; }
  [[nodiscard]] Bytes alignment() const override { return options_.alignment; }
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  Bytes trim() override { return Bytes(0); }
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;
  /// Every allocation is a segment of its own.
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
