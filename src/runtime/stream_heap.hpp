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

/// What all heaps of an allocator share. It outlives them.
struct HeapHost {
  Device& device;
  PageSpace& space;
  CaptureGate& gate;  ///< Streams may be asked about by whoever has a pass.
};

/// The heap of one stream with what several threads and streams add to it: a lock, magazines, blocks that were left by
/// threads that did not ask for the lock, and blocks that other streams may still use. Everything but the part "without
/// the lock" needs it.
class alignas(kApart) StreamHeap {
 public:
  StreamHeap(const HeapHost& host, StreamId stream, Bytes alignment)
      : books(alignment), host_(host), stream_(stream), unit_(alignment), number_(number_heap()) {}
  ~StreamHeap();
  StreamHeap(const StreamHeap&) = delete;
  StreamHeap& operator=(const StreamHeap&) = delete;

  SpinLock mutex;
  SpanHeap books;
  std::uint64_t allocations = 0;  ///< Except for those from magazines.
  Bytes overcount;  ///< What the books count of small allocations beyond the requests, except for those of magazines.

  [[nodiscard]] StreamId stream() const { return stream_; }

  struct Counts {
    Bytes requested;
    std::uint64_t allocations = 0;
  };
  /// With those of magazines.
  [[nodiscard]] Counts counts() const;
  void reset_allocations();

  /// For the thread that allocates here. Takes an idle span, though other threads may have to give back what they keep.
  /// Null when there is none.
  Span* take(Bytes size, Bytes requested) {
    if (!is_home()) home_.store(this_thread(), std::memory_order_relaxed);
    if (has_left()) take_in();
    if (Span* const span = books.take(size, requested)) return span;
    return take_all_in() ? books.take(size, requested) : nullptr;
  }
  /// Says that work of another stream uses an allocation. False when there is no such one.
  bool add_use(std::byte* address, StreamId stream);
  /// Frees an allocation that was taken off the table, once the other streams that use it are done.
  void give_back(Span* span) { span->used_elsewhere ? wait_for_uses(span) : free(span); }
  /// Frees what other streams are done with; says whether there was any. Not during a capture.
  bool collect();
  /// Its own stream, and those that use or have used its memory.
  [[nodiscard]] std::vector<StreamId> streams() const;

  /// Frees what was left.
  void take_in();
  /// Frees what was left and what all threads' magazines keep; says whether there was any.
  bool take_all_in();

  // Without the lock.

  [[nodiscard]] bool has_left() const { return !left_.is_empty(); }
  /// Whether the calling thread allocated here last: it has the lock at hand then.
  [[nodiscard]] bool is_home() const { return home_.load(std::memory_order_relaxed) == this_thread(); }

  /// A block from the calling thread's magazine; null when it has none of the size.
  [[nodiscard]] std::byte* take_kept(std::size_t units, Bytes rounding) {
    Magazine* const magazine = find_magazine(number_);
    return magazine == nullptr ? nullptr : magazine->take(units, rounding);
  }
  /// Has the calling thread's magazine keep a small block that is freed. False when it must go back to the books.
  [[nodiscard]] bool keep(std::size_t units, std::byte* address, Bytes rounding) {
    if (unkept_.load(std::memory_order_relaxed) != 0) return false;
    Magazine* const magazine = magazine_of_this_thread();
    return magazine != nullptr && magazine->put(units, address, rounding);
  }
  /// Has the calling thread's magazine send a freed block back, soon. False when it must go back to the books.
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

  mutable SpinLock
      magazines_lock_;  ///< Behind the heap's: a thread that frees for the first time does not wait for that one.
  std::vector<std::shared_ptr<Magazine>> magazines_;

  // Read by all threads; written when another thread begins to allocate here, and for small blocks that other streams
  // use.
  alignas(kApart) const HeapHost host_;
  const StreamId stream_;
  const Bytes unit_;
  const std::uint64_t number_;
  std::atomic<const char*> home_{nullptr};  ///< The thread that allocated last.
  /// Small allocations that other streams use, which no magazine keeps. Who frees one has been told of it by whoever
  /// said that it is used, and thus sees more than 0 here.
  std::atomic<std::uint32_t> unkept_{0};

  // Written by threads without the lock.
  alignas(kApart) LeftBatches left_;
};

}  // namespace stowage::runtime
