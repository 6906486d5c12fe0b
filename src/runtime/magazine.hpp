#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/spin_lock.hpp"
#include "stowage/base.hpp"

/// Magazines: blocks that a thread freed on a stream,
/// and that the bookkeeping of the stream's heap still counts as live.
///
/// Threads that share a stream share its heap's lock, and a block is allocated and freed faster than a lock changes
/// hands. A magazine belongs to one thread and one heap. It has two parts:
/// - *Shelves* of small blocks for the thread's next requests. They are filled only by frees, so a shelf never holds
///   blocks that were not needed before.
/// - An *outbox* of blocks that go back to the heap in batches: blocks that do not fit on the shelves, and larger
///   blocks freed by a thread other than the one that allocates there.
///
/// Both are small: per size at most 16 blocks, and at most the larger of 32 units and two blocks; in the outbox about
/// 64 blocks or 64 MiB. A heap that falls short first reclaims the blocks of all magazines, of whatever thread.
/// Therefore each magazine has a lock; at other times only its own thread takes it.
namespace stowage::runtime {

/// Blocks on their way back to the heap, queued for the next thread that holds its lock.
struct Batch {
  static constexpr std::size_t kBlocks = 64;

  Batch* next = nullptr;
  std::size_t count = 0;
  std::array<std::byte*, kBlocks> blocks{};
  bool belongs_to_magazine = false;
  std::atomic<bool> is_out{false};  ///< For a batch that belongs to a magazine: in use.
};

/// Releases a batch whose blocks have been freed.
void recycle(Batch* batch);

/// The batches queued for a heap. Thread-safe.
class LeftBatches {
 public:
  void push(Batch* batch) {
    batch->next = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(batch->next, batch, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  /// Takes all of them, the newest first.
  [[nodiscard]] Batch* take() { return first_.exchange(nullptr, std::memory_order_acquire); }
  [[nodiscard]] bool is_empty() const { return first_.load(std::memory_order_relaxed) == nullptr; }

 private:
  std::atomic<Batch*> first_{nullptr};
};

/// Sizes are counted in units; a unit is the alignment of all blocks. Thread-safe.
class alignas(kApart) Magazine {
 public:
  static constexpr std::size_t kLargest = 16;  ///< Largest blocks that shelves hold, in units.

  /// The outbox sends its batches to `left`. After the heap that owns `left` is gone, nothing may be sent.
  explicit Magazine(LeftBatches& left);
  /// Drops the blocks that were not sent.
  ~Magazine();
  Magazine(const Magazine&) = delete;
  Magazine& operator=(const Magazine&) = delete;

  /// A block of that many units from its shelf; null if the shelf is empty. `rounding` is the block's size minus the
  /// requested size.
  std::byte* take(std::size_t units, Bytes rounding) {
    const std::lock_guard lock(mutex_);
    Shelf& shelf = shelves_[units - 1];
    if (shelf.count == 0) return nullptr;
    rounding_ += rounding;
    ++taken_;
    return shelf.blocks[--shelf.count];
  }

  /// Puts a small block on its shelf. If the shelf is full, its older half goes to the outbox first. Like `send`,
  /// returns false if there is no host memory for a batch.
  [[nodiscard]] bool put(std::size_t units, std::byte* block, Bytes rounding) {
    const std::lock_guard lock(mutex_);
    Shelf& shelf = shelves_[units - 1];
    if (shelf.count == room_for(units) && !spill(shelf)) return false;
    rounding_ -= rounding;
    shelf.blocks[shelf.count++] = block;
    return true;
  }
  /// Puts a block into the outbox.
  [[nodiscard]] bool send(std::byte* block, Bytes size, Bytes rounding) {
    const std::lock_guard lock(mutex_);
    if (outbox_ == nullptr && !open_outbox()) return false;
    outbox_->blocks[outbox_->count++] = block;
    outbox_bytes_ += size;
    rounding_ -= rounding;
    close_full_outbox();
    return true;
  }

  /// Removes every block and passes it to `visit`.
  template <typename Visit>
  void empty(const Visit& visit) {
    const std::lock_guard lock(mutex_);
    while (outbox_ != nullptr && outbox_->count > 0) visit(outbox_->blocks[--outbox_->count]);
    outbox_bytes_ = Bytes(0);
    for (Shelf& shelf : shelves_) {
      while (shelf.count > 0) visit(shelf.blocks[--shelf.count]);
    }
  }

  struct Counts {
    Bytes rounding;  ///< Of the blocks taken, minus that of the blocks put back; may be negative.
    std::uint64_t taken = 0;
  };
  [[nodiscard]] Counts counts() const;
  void reset_taken();

  /// Its thread has ended; another thread may adopt the magazine with its blocks.
  void abandon() { owned_.store(false, std::memory_order_release); }
  [[nodiscard]] bool adopt() { return !owned_.exchange(true, std::memory_order_acquire); }

 private:
  static constexpr std::size_t kDepth = 16;
  static constexpr Bytes kOutboxBytes{64 << 20};

  struct Shelf {
    std::size_t count = 0;
    std::array<std::byte*, kDepth> blocks{};
  };

  static constexpr std::size_t room_for(std::size_t units) { return std::clamp<std::size_t>(32 / units, 2, kDepth); }

  bool spill(Shelf& shelf);
  bool open_outbox();
  /// Sends the outbox once it has no room for half a shelf, or holds enough bytes. Under the lock, so that a thread
  /// that has emptied a magazine finds all its other blocks in `left_`.
  void close_full_outbox() {
    if (outbox_->count + kDepth / 2 <= Batch::kBlocks && outbox_bytes_ < kOutboxBytes) return;
    outbox_bytes_ = Bytes(0);
    left_.push(std::exchange(outbox_, nullptr));
  }

  LeftBatches& left_;
  mutable SpinLock mutex_;
  std::array<Shelf, kLargest> shelves_{};
  Batch* outbox_ = nullptr;
  Bytes outbox_bytes_;
  std::array<Batch, 4> batches_;
  Bytes rounding_;
  std::uint64_t taken_ = 0;
  std::atomic<bool> owned_{true};
};

// ------------------------------------------------------------------------------------ magazines of the calling thread

struct RecentMagazine {
  std::uint64_t heap = 0;
  Magazine* magazine = nullptr;
};
inline constexpr std::size_t kRecentMagazines = 16;
inline constinit thread_local std::array<RecentMagazine, kRecentMagazines> recent_magazines{};

/// Identifies the calling thread among the running ones.
inline constinit thread_local char this_thread_mark = 0;
[[nodiscard]] inline const char* this_thread() { return &this_thread_mark; }

/// A number that is unique among all heaps of the process, past and present; never 0.
[[nodiscard]] std::uint64_t number_heap();

Magazine* find_magazine_slowly(std::uint64_t heap);

/// The calling thread's magazine for the heap with this number; null if it has none.
inline Magazine* find_magazine(std::uint64_t heap) {
  const RecentMagazine& recent = recent_magazines[heap % kRecentMagazines];
  return recent.heap == heap ? recent.magazine : find_magazine_slowly(heap);
}

/// Gives the magazine to the calling thread until the thread ends. Null if the thread is ending;
/// then the magazine is abandoned.
Magazine* keep_magazine(std::uint64_t heap, std::shared_ptr<Magazine> magazine);

}  // namespace stowage::runtime
