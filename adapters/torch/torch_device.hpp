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

/// Everything that serves one of torch's devices: the pages, an allocator for ordinary work (with planning ahead and a
/// log on top of it, depending on the settings), and an allocator per graph pool, over the same pages.
/// Never destroyed. Thread-safe.
class TorchDevice {
 public:
  static Result<std::unique_ptr<TorchDevice>> make(int ordinal, SettingsTable& settings);

  /// Fails as allocators do. If memory is short, retired graph pools are swept first.
  Result<std::byte*> allocate(Bytes size, TorchStream stream);
  /// The same, for calls from torch's own allocator, which does not announce captures.
  Result<std::byte*> allocate_below(Bytes size, TorchStream stream);
  void free(std::byte* address, Bytes size, TorchStream stream);
  /// Returns false if the address is not an allocation of this device.
  bool record_use(std::byte* address, TorchStream stream);

  /// Fails with `unsupported` if planning ahead is on, because a plan has to query streams.
  Status begin_pool(TorchPoolId id, TorchStreamFilter filter);
  void end_pool(TorchPoolId id);
  void release_pool(TorchPoolId id);

  void trim();
  void reset_peaks();
  [[nodiscard]] std::string stats_json() const;
  void snapshot(std::vector<MemorySnapshot>& snapshots) const;
  // Fail if planning ahead is off.
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
  const std::unique_ptr<PhysicalPool> pages_;  ///< Null if the device has no virtual memory.
  StreamAllocator ordinary_;
  std::unique_ptr<PlanAheadAllocator> ahead_;  ///< Null if planning ahead is off; then `locked_` is null too.
  std::unique_ptr<LockAdaptor> locked_;
  std::ofstream log_file_;
  std::unique_ptr<LogAdaptor> log_;
  Allocator* top_ = &ordinary_;  ///< The outermost adaptor.
  GraphPools pools_;

  mutable std::mutex streams_mutex_;
  std::set<StreamId> streams_;  ///< All streams seen so far.
};

}  // namespace stowage::torch
