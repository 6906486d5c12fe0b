#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"
#include "stowage/runtime/stream_allocator.hpp"
#include "stowage_torch.hpp"

namespace stowage::torch {

/// The private memory of CUDA graphs on one device. Whenever a graph is launched, it uses all memory that its capture
/// was given, including what was freed during the capture. Therefore each pool has its own allocator, which stays in
/// capture mode (`StreamAllocator::begin_capture`) as long as a graph of the pool exists: memory freed in it serves
/// only other captures into the same pool, and is never returned. When its last graph is destroyed, the pool is
/// *retired*. After the next `sweep`, when none of its graphs runs any more, its idle memory is returned, and the rest
/// as its tensors are freed.
///
/// Thread-safe: one lock, which is not taken as long as no pool has been made.
/// The device and the pages must outlive it.
class GraphPools {
 public:
  /// `options` are those of every pool's allocator.
  GraphPools(Device& device, const StreamOptions& options) : device_(device), options_(options) {}

  /// From now on, requests on streams that the filter accepts belong to the pool.
  void begin(TorchPoolId id, TorchStreamFilter filter);
  /// Returns false if the pool was not begun.
  bool end(TorchPoolId id);
  /// Releases one graph. Returns true if it was the last one, so that the pool is now retired.
  bool release(TorchPoolId id);
  /// Whether a capture may be in progress. Takes no lock.
  [[nodiscard]] bool any_open() const { return open_count_.load(std::memory_order_acquire) > 0; }

  /// Nothing if no open pool accepts the stream.
  std::optional<Result<std::byte*>> allocate(Bytes size, TorchStream native, StreamId stream);
  // Both return false if the address is not in a pool. They take no lock for addresses outside the range that pools
  // have ever used.
  bool free(std::byte* address, Bytes size, StreamId stream);
  bool record_use(std::byte* address, StreamId stream);

  /// Returns the unused memory of retired pools. Precondition: no stream has unfinished work of destroyed graphs. Does
  /// nothing during a capture.
  void sweep();
  [[nodiscard]] bool any_retired() const;

  struct Figures {
    std::size_t pools = 0;  ///< Including retired ones.
    AllocatorStats sum;     ///< Only the current requested, rounded and reserved bytes, and live allocations.
  };
  [[nodiscard]] Figures figures() const;
  void snapshot(std::vector<MemorySnapshot>& snapshots) const;
  void reset_peaks();

 private:
  struct GraphPool {
    explicit GraphPool(Device& device, const StreamOptions& options) : allocator(device, options) {
      allocator.begin_capture();
    }

    StreamAllocator allocator;
    int graphs = 0;
    bool swept = false;  ///< Retired, and none of its graphs runs any more.
  };
  struct OpenPool {
    TorchPoolId id;
    TorchStreamFilter wants;
    GraphPool* pool = nullptr;
  };

  [[nodiscard]] GraphPool* find_wanting(TorchStream native) const;
  [[nodiscard]] bool may_have(const std::byte* address) const;
  void note(const std::byte* address);
  template <class Visit>
  void visit_all(const Visit& visit) const;

  Device& device_;
  const StreamOptions options_;
  std::atomic<int> open_count_{0};
  std::atomic<std::uintptr_t> lowest_{UINTPTR_MAX};  ///< Of all addresses that pools ever returned.
  std::atomic<std::uintptr_t> highest_{0};

  mutable std::mutex mutex_;
  std::map<TorchPoolId, std::unique_ptr<GraphPool>> pools_;
  std::vector<std::unique_ptr<GraphPool>> retired_;
  std::vector<OpenPool> open_;
  std::unordered_map<std::byte*, GraphPool*> blocks_;
};

}  // namespace stowage::torch
