#include "runtime/magazine.hpp"

#include <new>
#include <utility>
#include <vector>

namespace stowage::runtime {

Magazine::Magazine(LeftBatches& left) : left_(left) {
  for (Batch& batch : batches_) batch.belongs_to_magazine = true;
}

Magazine::~Magazine() {
  if (outbox_ != nullptr) recycle(outbox_);
}

void recycle(Batch* batch) {
  if (batch->belongs_to_magazine)
    batch->is_out.store(false, std::memory_order_release);
  else
    delete batch;
}

bool Magazine::spill(Shelf& shelf) {
  if (outbox_ == nullptr && !open_outbox()) return false;
  const std::size_t half = shelf.count / 2;
  const auto kept = shelf.blocks.begin() + static_cast<std::ptrdiff_t>(half);
  std::copy(shelf.blocks.begin(), kept, outbox_->blocks.begin() + static_cast<std::ptrdiff_t>(outbox_->count));
  std::copy(kept, shelf.blocks.begin() + static_cast<std::ptrdiff_t>(shelf.count), shelf.blocks.begin());
  outbox_->count += half;
  shelf.count -= half;
  close_full_outbox();
  return true;
}

/// Uses one of the magazine's own batches, or a new one if all are in use.
bool Magazine::open_outbox() {
  const auto is_free = [](const Batch& batch) { return !batch.is_out.load(std::memory_order_acquire); };
  const auto found = std::ranges::find_if(batches_, is_free);
  outbox_ = found != batches_.end() ? &*found : new (std::nothrow) Batch;
  if (outbox_ == nullptr) return false;
  outbox_->is_out.store(true, std::memory_order_relaxed);
  outbox_->count = 0;
  return true;
}

Magazine::Counts Magazine::counts() const {
  const std::lock_guard lock(mutex_);
  return {rounding_, taken_};
}

void Magazine::reset_taken() {
  const std::lock_guard lock(mutex_);
  taken_ = 0;
}

// ------------------------------------------------------------------------------------ magazines of the calling thread

namespace {

/// Allocators may be destroyed after this thread's other thread-local variables, and still read this one.
constinit thread_local bool thread_is_ending = false;

/// All magazines of a thread. Those whose heap is gone are dropped when the next magazine is added.
class ThreadMagazines {
 public:
  ThreadMagazines() = default;
  ~ThreadMagazines() {
    thread_is_ending = true;
    recent_magazines = {};
    for (const Mine& mine : all_) mine.magazine->abandon();
  }
  ThreadMagazines(const ThreadMagazines&) = delete;
  ThreadMagazines& operator=(const ThreadMagazines&) = delete;

  Magazine* find(std::uint64_t heap) const {
    const auto found = std::ranges::find(all_, heap, &Mine::heap);
    return found == all_.end() ? nullptr : found->magazine.get();
  }
  void add(std::uint64_t heap, std::shared_ptr<Magazine> magazine) {
    std::erase_if(all_, [](const Mine& mine) { return mine.magazine.use_count() == 1; });
    all_.push_back({heap, std::move(magazine)});
  }

 private:
  struct Mine {
    std::uint64_t heap = 0;
    std::shared_ptr<Magazine> magazine;
  };
  std::vector<Mine> all_;
};

ThreadMagazines& mine() {
  static thread_local ThreadMagazines magazines;
  return magazines;
}

}  // namespace

std::uint64_t number_heap() {
  static constinit std::atomic<std::uint64_t> last{0};
  return ++last;
}

Magazine* find_magazine_slowly(std::uint64_t heap) {
  if (thread_is_ending) return nullptr;
  Magazine* const magazine = mine().find(heap);
  if (magazine != nullptr) recent_magazines[heap % kRecentMagazines] = {heap, magazine};
  return magazine;
}

Magazine* keep_magazine(std::uint64_t heap, std::shared_ptr<Magazine> magazine) {
  if (thread_is_ending) {
    magazine->abandon();
    return nullptr;
  }
  mine().add(heap, std::move(magazine));
  return find_magazine_slowly(heap);
}

}  // namespace stowage::runtime
