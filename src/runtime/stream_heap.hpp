#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/capture_gate.hpp"
#include "runtime/heap/page_space.hpp"
#include "runtime/magazine.hpp"
#include "stowage/memory.hpp"

namespace stowage::runtime {

/// What all heaps of an allocator share; outlives the heaps.
struct HeapHost {
  Device& device;
  PageSpace& space;
  CaptureGate& gate;  ///< A pass is needed to ask the device about streams.
};

/// The heap of one stream, and what several threads and streams require: a lock, magazines, a queue of blocks freed
/// without the lock, and blocks that other streams may still use. Callers hold the lock, except for the functions under
/// "Without the lock".
class alignas(kApart) StreamHeap {
 public:
  StreamHeap(const HeapHost& host, StreamId stream, Bytes alignment)
      : books(alignment), host_(host), stream_(stream), unit_(alignment), number_(number_heap()) {}
  ~StreamHeap();
  StreamHeap(const StreamHeap&) = delete;
  StreamHeap& operator=(const StreamHeap&) = delete;

  SpinLock mutex;
  SpanHeap books;
  std::uint64_t allocations = 0;  ///< Except those from magazines.
  /// By how much `books` counts small allocations too high because it has their rounded size;
  /// except those from magazines.
  Bytes overcount;

  [[nodiscard]] StreamId stream() const { return stream_; }

  struct Counts {
    Bytes requested;
    std::uint64_t allocations = 0;
  };
  /// Including those from magazines.
  [[nodiscard]] Counts counts() const;
  void reset_allocations();

  /// Takes an idle span for the calling thread, which becomes the heap's home thread. If necessary reclaims blocks from
  /// magazines. Null if no span fits.
  Span* take(Bytes size, Bytes requested) {
    if (!is_home()) home_.store(this_thread(), std::memory_order_relaxed);
    if (has_left()) take_in();
    if (Span* const span = books.take(size, requested)) return span;
    return take_all_in() ? books.take(size, requested) : nullptr;
  }
  /// Notes that work of another stream uses an allocation. Returns false if there is no such allocation.
  bool add_use(std::byte* address, StreamId stream);
  /// Frees an allocation that was removed from the table, as soon as the other streams that use it are done.
  void give_back(Span* span) { span->used_elsewhere ? wait_for_uses(span) : free(span); }
  /// Frees the blocks that other streams are done with; returns whether there were any. Not during a capture.
  bool collect();
  /// The heap's own stream, and those that use or have used its memory.
  [[nodiscard]] std::vector<StreamId> streams() const;

  /// Frees the queued blocks.
  void take_in();
  /// Frees the queued blocks and those in all threads' magazines; returns whether there were any.
  bool take_all_in();

  // Without the lock.

  [[nodiscard]] bool has_left() const { return !left_.is_empty(); }
  /// Whether the calling thread was the last to allocate here; then it probably gets the lock without waiting.
  [[nodiscard]] bool is_home() const { return home_.load(std::memory_order_relaxed) == this_thread(); }

  /// A block from the calling thread's magazine; null if it has none of this size.
  [[nodiscard]] std::byte* take_kept(std::size_t units, Bytes rounding) {
    Magazine* const magazine = find_magazine(number_);
    return magazine == nullptr ? nullptr : magazine->take(units, rounding);
  }
  /// Puts a freed small block into the calling thread's magazine. Returns false if the caller must free it in `books`.
  [[nodiscard]] bool keep(std::size_t units, std::byte* address, Bytes rounding) {
    if (unkept_.load(std::memory_order_relaxed) != 0) return false;
    Magazine* const magazine = magazine_of_this_thread();
    return magazine != nullptr && magazine->put(units, address, rounding);
  }
  /// Queues a freed block in the outbox of the calling thread's magazine.
  /// Returns false if the caller must free it in `books`.
  [[nodiscard]] bool send(std::byte* address, Bytes size, Bytes rounding) {
    Magazine* const magazine = magazine_of_this_thread();
    return magazine != nullptr && magazine->send(address, size, rounding);
  }

 private:
  struct Use {
    StreamId stream;
    std::optional<EventId> event;  ///< Absent: it could not be recorded yet.
  };
  struct Pending {
    Span* span = nullptr;
    std::vector<Use> uses;
  };

  void free(Span* span) {
    if (span->stitch != 0) {
      const CaptureGate::Pass pass(host_.gate);
      host_.space.end_use(span->stitch, stream_, pass.allowed());
    }
    books.give_back(span);
  }
  [[nodiscard]] bool is_small(const Span& span) const {
    return span.requested.value() <= unit_.value() * static_cast<std::int64_t>(Magazine::kLargest);
  }
  void free_all(std::span<std::byte* const> addresses) {
    for (std::byte* const address : addresses) {
      if (Span* const span = books.remove(address)) give_back(span);
    }
  }
  [[nodiscard]] Magazine* magazine_of_this_thread() {
    Magazine* const magazine = find_magazine(number_);
    return magazine != nullptr ? magazine : make_magazine();
  }
  Magazine* make_magazine();
  void wait_for_uses(Span* span);
  [[nodiscard]] bool is_done(Use& use);
  [[nodiscard]] Result<EventId> record(StreamId stream) const;
  void forget(const Use& use);

  // Under the lock.
  std::unordered_map<const Span*, std::vector<StreamId>> uses_;
  std::vector<Pending> pending_;

  /// Taken after the heap's lock; separate, so that a thread's first free does not wait for that one.
  mutable SpinLock magazines_lock_;
  std::vector<std::shared_ptr<Magazine>> magazines_;

  // Read by all threads; written when another thread starts allocating here,
  // and for small blocks used by other streams.
  alignas(kApart) const HeapHost host_;
  const StreamId stream_;
  const Bytes unit_;
  const std::uint64_t number_;
  std::atomic<const char*> home_{nullptr};  ///< The thread that allocated last.
  /// Number of small allocations that other streams use; magazines do not keep those. A thread that frees such a block
  /// is synchronized with the thread that recorded the use, so it sees a value above 0.
  std::atomic<std::uint32_t> unkept_{0};

  // Written by threads without the lock.
  alignas(kApart) LeftBatches left_;
};

}  // namespace stowage::runtime
