#include "runtime/magazine.hpp"

#include <utility>
#include <vector>

namespace stowage::runtime {

std::size_t Magazine::spill(std::size_t units, Blocks& blocks) {
  const std::lock_guard lock(mutex_);
  Shelf& shelf = shelves_[units - 1];
  const auto half = static_cast<std::ptrdiff_t>((shelf.count + 1) / 2);
  std::copy_n(shelf.blocks.begin(), half, blocks.begin());
  std::copy(shelf.blocks.begin() + half, shelf.blocks.begin() + static_cast<std::ptrdiff_t>(shelf.count), shelf.blocks.begin());
  shelf.count -= static_cast<std::size_t>(half);
  return static_cast<std::size_t>(half);
}

Magazine::Counts Magazine::counts() const {
  const std::lock_guard lock(mutex_);
  return {rounding_, taken_};
}

void Magazine::reset_taken() {
  const std::lock_guard lock(mutex_);
  taken_ = 0;
}

// ------------------------------------------------------------------------------------------------------ of this thread

namespace {

/// Read after its thread's other variables are gone, by allocators that are destroyed later still.
constinit thread_local bool thread_is_ending = false;

/// All magazines of a thread. Those whose heap is gone are dropped when the next one comes.
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
