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

/// The private memory of CUDA graphs, on one device. A graph that is launched uses all that its capture was given, what
/// it freed on the way too. Hence each pool has an allocator of its own, which stays in a capture
/// (`StreamAllocator::begin_capture`) as long as a graph of the pool exists: what is freed there serves other captures
/// into the same pool, never anybody else, and goes nowhere. When the last graph is gone, the pool is *retired*. Once a
/// `sweep` says that none of its graphs runs any more, idle memory goes back, and the rest when its tensors are gone.
///
/// Thread-safe: one lock, which nobody asks for while no pool has been made. The device and the pages must outlive it.
class GraphPools {
 public:
  /// `pages` may be null. `options`: of every pool's allocator.
  GraphPools(Device& device, const StreamOptions& options) : device_(device), options_(options) {}

  /// Requests that the filter names belong to the pool from now on, those of other streams do not.
  void begin(TorchPoolId id, TorchStreamFilter filter);
  /// False: it was not begun.
  bool end(TorchPoolId id);
  /// One graph less. True when it was the last one and the pool is retired now.
  bool release(TorchPoolId id);
  /// Whether a capture may be under way. Without the lock.
  [[nodiscard]] bool any_open() const { return open_count_.load(std::memory_order_acquire) > 0; }

  /// Nothing where no open pool wants the request.
  std::optional<Result<std::byte*>> allocate(Bytes size, TorchStream native, StreamId stream);
  // False: not of a pool. Without the lock for addresses below or above all that pools have ever had.
  bool free(std::byte* address, Bytes size, StreamId stream);
  bool record_use(std::byte* address, StreamId stream);

  /// Returns what retired pools do not use. No stream may have work left of graphs that are gone. Nothing happens
  /// during a capture.
  void sweep();
  [[nodiscard]] bool any_retired() const;

  struct Figures {
    std::size_t pools = 0;  ///< Retired ones too.
    AllocatorStats sum;     ///< Requested, rounded and reserved bytes now, and live allocations, alone.
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
    bool swept = false;  ///< It was retired, and no graph of it runs any more.
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
  std::atomic<std::uintptr_t> lowest_{UINTPTR_MAX};  ///< Of all addresses that pools ever handed out.
  std::atomic<std::uintptr_t> highest_{0};

  mutable std::mutex mutex_;
  std::map<TorchPoolId, std::unique_ptr<GraphPool>> pools_;
  std::vector<std::unique_ptr<GraphPool>> retired_;
  std::vector<OpenPool> open_;
  std::unordered_map<std::byte*, GraphPool*> blocks_;
};

}  // namespace stowage::torch
