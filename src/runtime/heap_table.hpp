#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/stream_heap.hpp"

namespace stowage::runtime {

/// The heaps of all streams, each created on first use and destroyed with the table. Thread-safe; lookups for streams
/// with low numbers take no lock.
class HeapTable {
 public:
  HeapTable(const HeapHost& host, Bytes alignment) : host_(host), alignment_(alignment) {}
  ~HeapTable() = default;
  HeapTable(const HeapTable&) = delete;
  HeapTable& operator=(const HeapTable&) = delete;

  [[nodiscard]] StreamHeap& of(StreamId stream) {
    if (stream.index() < kDirect) {
      if (StreamHeap* const heap = direct_[stream.index()].load(std::memory_order_acquire)) return *heap;
    }
    return find_or_make(stream);
  }
  /// The existing heaps, in stream order.
  [[nodiscard]] std::vector<StreamHeap*> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<StreamHeap*> heaps;
    for (const auto& [stream, heap] : heaps_) heaps.push_back(heap.get());
    return heaps;
  }

 private:
  static constexpr std::size_t kDirect = 128;

  StreamHeap& find_or_make(StreamId stream) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<StreamHeap>& heap = heaps_[stream];
    if (heap == nullptr) heap = std::make_unique<StreamHeap>(host_, stream, alignment_);
    if (stream.index() < kDirect) direct_[stream.index()].store(heap.get(), std::memory_order_release);
    return *heap;
  }

  const HeapHost host_;
  const Bytes alignment_;
  mutable std::mutex mutex_;
  std::map<StreamId, std::unique_ptr<StreamHeap>> heaps_;
  std::array<std::atomic<StreamHeap*>, kDirect> direct_{};
};

}  // namespace stowage::runtime
