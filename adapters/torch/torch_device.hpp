#pragma once

#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "graph_pools.hpp"
#include "settings.hpp"
#include "stowage/memory/cuda.hpp"
#include "stowage/runtime/adaptors.hpp"
#include "stowage/runtime/plan_ahead.hpp"

namespace stowage::torch {

/// All that serves one device of torch's: the pages, an allocator for ordinary work (with planning ahead and a log over
/// it where settings say so), and one for each graph pool, over the same pages. Never destroyed. Thread-safe.
class TorchDevice {
 public:
  static Result<std::unique_ptr<TorchDevice>> make(int ordinal, SettingsTable& settings);

  /// Fails as allocators do. When memory is short, retired graph pools are swept first.
  Result<std::byte*> allocate(Bytes size, TorchStream stream);
  /// The same where torch's own allocator is above, which tells nobody of its captures.
  Result<std::byte*> allocate_below(Bytes size, TorchStream stream);
  void free(std::byte* address, Bytes size, TorchStream stream);
  /// False where the address is not an allocation of this device's.
  bool record_use(std::byte* address, TorchStream stream);

  /// `unsupported` with planning ahead, which asks streams how far they are.
  Status begin_pool(TorchPoolId id, TorchStreamFilter filter);
  void end_pool(TorchPoolId id);
  void release_pool(TorchPoolId id);

  void trim();
  void reset_peaks();
  [[nodiscard]] std::string stats_json() const;
  void snapshot(std::vector<MemorySnapshot>& snapshots) const;
  // Not without planning ahead.
  Status begin_iteration();
  Status end_iteration();

 private:
  TorchDevice(std::unique_ptr<CudaDevice> device, const Settings& settings);
  Status begin(const Settings& settings);
  Result<StreamId> stream_id(TorchStream stream);
  Result<StreamId> adopt(TorchStream stream);
  Result<std::byte*> allocate_from(Bytes size, TorchStream native, StreamId stream);
  void sweep_pools();
  Status refuse_iteration() const;

  const std::unique_ptr<CudaDevice> device_;
  const std::unique_ptr<PhysicalPool> pages_;  ///< Null where the device has no virtual memory.
  StreamAllocator ordinary_;
  std::unique_ptr<PlanAheadAllocator> ahead_;  ///< Null: not asked for. Then nothing below is there but the log.
  std::unique_ptr<LockAdaptor> locked_;
  std::ofstream log_file_;
  std::unique_ptr<LogAdaptor> log_;
  Allocator* top_ = &ordinary_;  ///< Of the tower.
  GraphPools pools_;

  mutable std::mutex streams_mutex_;
  std::set<StreamId> streams_;  ///< All that were ever seen.
};

}  // namespace stowage::torch
