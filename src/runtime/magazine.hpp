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

/// Magazines: blocks that a thread freed on a stream and that the books of the stream's heap do not know as free yet.
///
/// Threads that share a stream share its heap's lock, and a block is taken and freed faster than a lock changes hands.
/// A magazine belongs to one thread and one heap. It has *shelves* of small blocks for the thread's next requests,
/// filled by frees alone, so that nothing lies there that was not needed before; and an *outbox* of blocks that go back
/// to the heap, many at a time: what finds no room on the shelves, and larger blocks that are freed by a thread that is
/// not the one that allocates there. Both are small: at most 16 blocks of a size, 32 units of bytes or two blocks;
/// about 64 blocks or 64 MiB in the outbox. For the heap's books all these blocks are live; a heap that falls short
/// first takes back what all magazines hold, whoever's they are. That is why each has a lock, which its thread alone
/// asks for at other times.
namespace stowage::runtime {

/// Blocks on their way back to the heap, which are left there for whoever has its lock next.
struct Batch {
  static constexpr std::size_t kBlocks = 64;

  Batch* next = nullptr;
  std::size_t count = 0;
  std::array<std::byte*, kBlocks> blocks{};
  bool belongs_to_magazine = false;
  std::atomic<bool> is_out{false};  ///< Of a magazine's: in use.
};

/// For a batch whose blocks are back.
void recycle(Batch* batch);

/// What was left to a heap. Thread-safe.
class LeftBatches {
 public:
  void push(Batch* batch) {
    batch->next = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(batch->next, batch, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  /// All of them, the newest first.
  [[nodiscard]] Batch* take() { return first_.exchange(nullptr, std::memory_order_acquire); }
  [[nodiscard]] bool is_empty() const { return first_.load(std::memory_order_relaxed) == nullptr; }

 private:
  std::atomic<Batch*> first_{nullptr};
};

/// Sizes are counted in units, the alignment of all blocks. Thread-safe.
class alignas(kApart) Magazine {
 public:
  static constexpr std::size_t kLargest = 16;  ///< Units of the largest blocks that are kept.

  /// `left` gets what the outbox sends; nothing is sent any more once the heap that has it is gone.
  explicit Magazine(LeftBatches& left);
  /// What was not sent is forgotten.
  ~Magazine();
  Magazine(const Magazine&) = delete;
  Magazine& operator=(const Magazine&) = delete;

  /// A block of that many units from its shelf; null when there is none. `rounding` is what the block has beyond the
  /// request.
  std::byte* take(std::size_t units, Bytes rounding) {
    const std::lock_guard lock(mutex_);
    Shelf& shelf = shelves_[units - 1];
    if (shelf.count == 0) return nullptr;
    rounding_ += rounding;
    ++taken_;
    return shelf.blocks[--shelf.count];
  }

  /// Puts a small block on its shelf. Where that is full, the older half of it goes into the outbox. False when there
  /// is no memory to take note of that, here and below.
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

  /// Takes everything out.
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
    Bytes rounding;  ///< Of what was taken, less that of what was put: may be below 0.
    std::uint64_t taken = 0;
  };
  [[nodiscard]] Counts counts() const;
  void reset_taken();

  /// Its thread is gone: another may have it, content and all.
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
  /// Sends it when it has no room for half a shelf any more, or enough bytes. Under the lock: whoever has emptied a
  /// magazine finds all else among what was left.
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

// ----------------------------------------------------------------------------------------------------- of this thread

struct RecentMagazine {
  std::uint64_t heap = 0;
  Magazine* magazine = nullptr;
};
inline constexpr std::size_t kRecentMagazines = 16;
inline constinit thread_local std::array<RecentMagazine, kRecentMagazines> recent_magazines{};

/// Who the calling thread is, compared with others that run.
inline constinit thread_local char this_thread_mark = 0;
[[nodiscard]] inline const char* this_thread() { return &this_thread_mark; }

/// A number that no other heap of the process ever has; not 0.
[[nodiscard]] std::uint64_t number_heap();

Magazine* find_magazine_slowly(std::uint64_t heap);

/// The calling thread's, for the heap with this number; null when it has none.
inline Magazine* find_magazine(std::uint64_t heap) {
  const RecentMagazine& recent = recent_magazines[heap % kRecentMagazines];
  return recent.heap == heap ? recent.magazine : find_magazine_slowly(heap);
}

/// Makes it the calling thread's until the thread ends. Null when the thread is ending: the magazine is abandoned then.
Magazine* keep_magazine(std::uint64_t heap, std::shared_ptr<Magazine> magazine);

}  // namespace stowage::runtime
