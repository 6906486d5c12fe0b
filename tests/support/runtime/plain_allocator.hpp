#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

/// The plainest allocator that keeps the whole contract, for testing what wraps one: blocks of the host's heap, kept
/// when freed and given out again for the same rounded size, until `trim`. Strict: a wrong free aborts in every build.
/// For one thread.
class TestAllocator final : public Allocator {
 public:
  static constexpr Bytes kAlignment{512};

  /// Beyond the capacity (of live and idle blocks together) it is out of memory.
  explicit TestAllocator(Bytes capacity = Bytes(std::int64_t{1} << 30)) : capacity_(capacity) {}
  ~TestAllocator() override {
    STOWAGE_CHECK(live_.empty(), "a test allocator gets everything back");
    trim();
  }

  /// The next `count` requests fail.
  void fail_next(std::uint64_t count) { fail_next_ = count; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }  ///< Of `allocate`.
  [[nodiscard]] const std::vector<StreamId>& recorded() const { return recorded_; }

  [[nodiscard]] DeviceId device() const override { return DeviceId(0); }
  [[nodiscard]] Bytes alignment() const override { return kAlignment; }

  Result<std::byte*> allocate(Bytes size, StreamId stream) override {
    ++calls_;
    if (size < Bytes(0)) return Error{ErrorCode::invalid, "test: " + std::to_string(size.value()) + " bytes", {}};
    if (size == Bytes(0)) return nullptr;
    if (fail_next_ > 0 || size > capacity_ || !make_idle(align_up(size, kAlignment))) return out_of_memory(size);
    const Bytes rounded = align_up(size, kAlignment);
    std::vector<std::byte*>& idle = idle_[rounded];
    std::byte* const address = idle.back();
    idle.pop_back();
    live_[address] = {size, stream};
    ++stats_.allocations;
    stats_.requested += size;
    stats_.rounded += rounded;
    stats_.requested_peak = std::max(stats_.requested_peak, stats_.requested);
    stats_.rounded_peak = std::max(stats_.rounded_peak, stats_.rounded);
    return address;
  }

  void free(std::byte* address, Bytes size, StreamId stream) override {
    if (address == nullptr) return;
    const auto found = live_.find(address);
    STOWAGE_CHECK(found != live_.end(), "freed twice, or not an allocation");
    STOWAGE_CHECK(found->second.size == size && found->second.stream == stream, "freed as it was allocated");
    live_.erase(found);
    idle_[align_up(size, kAlignment)].push_back(address);
    stats_.requested -= size;
    stats_.rounded -= align_up(size, kAlignment);
  }

  Status record_use(std::byte* address, StreamId stream) override {
    if (!live_.contains(address)) return Error{ErrorCode::invalid, "test: not an allocation", {}};
    recorded_.push_back(stream);
    return Done{};
  }

  Bytes trim() override {
    Bytes returned;
    for (const auto& [size, blocks] : idle_) {
      for (std::byte* block : blocks) std::free(block);
      returned += Bytes(size.value() * static_cast<std::int64_t>(blocks.size()));
      stats_.releases += blocks.size();
    }
    idle_.clear();
    stats_.reserved -= returned;
    return returned;
  }

  [[nodiscard]] AllocatorStats stats() const override {
    AllocatorStats stats = stats_;
    stats.live = live_.size();
    for (const auto& [size, blocks] : idle_) {
      if (!blocks.empty()) stats.largest_idle = size;
    }
    return stats;
  }

  void reset_peaks() override {
    AllocatorStats now;
    now.requested = now.requested_peak = stats_.requested;
    now.rounded = now.rounded_peak = stats_.rounded;
    now.reserved = now.reserved_peak = stats_.reserved;
    stats_ = now;
  }

  [[nodiscard]] MemorySnapshot snapshot() const override {
    MemorySnapshot snapshot;
    for (const auto& [address, block] : live_) {
      add(snapshot, {address, align_up(block.size, kAlignment), block.size, MemorySnapshot::BlockState::live},
          block.stream);
    }
    for (const auto& [size, blocks] : idle_) {
      for (std::byte* block : blocks) add(snapshot, {block, size, Bytes(0), MemorySnapshot::BlockState::idle}, {});
    }
    return snapshot;
  }

 private:
  struct Live {
    Bytes size;
    StreamId stream;
  };

  static void add(MemorySnapshot& snapshot, MemorySnapshot::Block block, StreamId stream) {
    MemorySnapshot::Segment segment;
    segment.address = block.address;
    segment.size = block.size;
    segment.stream = stream;
    segment.blocks = {block};
    snapshot.segments.push_back(segment);
  }

  /// Whether there is an idle block of that size now.
  bool make_idle(Bytes rounded) {
    if (const auto found = idle_.find(rounded); found != idle_.end() && !found->second.empty()) return true;
    if (rounded > capacity_ - stats_.reserved) trim();
    if (rounded > capacity_ - stats_.reserved) return false;
    void* const block =
        std::aligned_alloc(static_cast<std::size_t>(kAlignment.value()), static_cast<std::size_t>(rounded.value()));
    if (block == nullptr) return false;
    idle_[rounded].push_back(static_cast<std::byte*>(block));
    ++stats_.creates;
    stats_.reserved += rounded;
    stats_.reserved_peak = std::max(stats_.reserved_peak, stats_.reserved);
    return true;
  }

  Error out_of_memory(Bytes size) {
    if (fail_next_ > 0) --fail_next_;
    ++stats_.failures;
    const std::string figures = std::to_string(stats_.rounded.value()) + " of " + std::to_string(capacity_.value());
    return {ErrorCode::out_of_memory,
            "test: " + std::to_string(size.value()) + " bytes were asked for; " + figures + " are live",
            {}};
  }

  const Bytes capacity_;
  std::uint64_t fail_next_ = 0;
  std::uint64_t calls_ = 0;
  std::map<std::byte*, Live> live_;
  std::map<Bytes, std::vector<std::byte*>> idle_;  ///< By size.
  std::vector<StreamId> recorded_;
  AllocatorStats stats_;
};

/// A resource for `std::pmr` with a limit, which knows what it gave: for testing in both directions. For one thread.
class TestResource final : public std::pmr::memory_resource {
 public:
  explicit TestResource(std::size_t capacity = std::size_t{1} << 30) : capacity_(capacity) {}
  ~TestResource() override { STOWAGE_CHECK(live_ == 0, "a test resource gets everything back"); }

  [[nodiscard]] std::size_t live() const { return live_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes > capacity_ - live_) throw std::bad_alloc();
    live_ += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* address, std::size_t bytes, std::size_t alignment) override {
    live_ -= bytes;
    std::pmr::new_delete_resource()->deallocate(address, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  const std::size_t capacity_;
  std::size_t live_ = 0;
};

}  // namespace stowage::runtime
