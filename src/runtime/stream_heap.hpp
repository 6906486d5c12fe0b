#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/heap/page_space.hpp"
#include "stowage/memory.hpp"

namespace stowage::runtime {

/// The heap of one stream with what several threads and streams add to it: a lock, blocks that were left for the holder of the
/// lock, and blocks that other streams may still use. Everything but `leave` and the atomics needs the lock.
class StreamHeap {
 public:
  StreamHeap(Device& device, StreamId stream, PageSpace& space, Bytes alignment)
      : books(alignment), device_(device), stream_(stream), space_(space) {}
  ~StreamHeap();
  StreamHeap(const StreamHeap&) = delete;
  StreamHeap& operator=(const StreamHeap&) = delete;

  std::mutex mutex;
  SpanHeap books;
  std::uint64_t allocations = 0;

  [[nodiscard]] StreamId stream() const { return stream_; }

  /// Says that work of another stream uses an allocation. False when there is no such one.
  bool add_use(std::byte* address, StreamId stream);
  /// Frees an allocation that was taken off the table, once the other streams that use it are done.
  void give_back(Span* span) { span->used_elsewhere ? wait_for_uses(span) : free(span); }
  /// Frees what other streams are done with; says whether there was any.
  bool collect();
  /// Its own stream, and those that use or have used its memory.
  [[nodiscard]] std::vector<StreamId> streams() const;
  /// Whether all work that was submitted to the stream is complete, as far as the device can say without waiting.
  [[nodiscard]] bool is_quiet();

  /// For a thread that does not get the lock: leaves a block to be freed by the next request. False where there is no memory
  /// for the note.
  [[nodiscard]] bool leave(std::byte* address);
  /// Frees what was left.
  void take_in();
  [[nodiscard]] bool has_left() const { return left_.load(std::memory_order_relaxed) != nullptr; }

 private:
  struct Left {
    std::byte* address = nullptr;
    Left* next = nullptr;
  };
  struct Use {
    StreamId stream;
    std::optional<EventId> event;  ///< Absent: it could not be recorded, and only synchronizing helps.
  };
  struct Pending {
    Span* span = nullptr;
    std::vector<Use> uses;
  };

  void free(Span* span) {
    if (span->view != 0) space_.end_use(span->view, stream_);
    books.give_back(span);
  }
  void wait_for_uses(Span* span);
  [[nodiscard]] bool is_done(Use& use);
  void forget(const Use& use);

  Device& device_;
  const StreamId stream_;
  PageSpace& space_;
  std::atomic<Left*> left_{nullptr};
  std::unordered_map<const Span*, std::vector<StreamId>> uses_;
  std::vector<Pending> pending_;
};

}  // namespace stowage::runtime
