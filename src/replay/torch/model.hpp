#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "replay/account.hpp"
#include "replay/torch/block.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::replaying {

/// A model of PyTorch's CUDACachingAllocator (2.x, default settings) for any device; the reference for waste. This
/// class has what the two modes share; derived classes get memory from the device. Written from its documented and
/// observed behaviour:
///
/// 1. Sizes are rounded up to 512 bytes. Every stream has a pool for sizes up to 1 MiB and one for those above.
/// 2. Best fit: the smallest idle block that is large enough serves a request; of equal ones, the lowest. It is split
///    if the rest is large enough.
/// 3. If there is none, the pool grows. If the device is out of memory, all deferred frees are waited for, all memory
///    that is entirely idle is returned, and growing is tried once more. (Blocks that became idle by waiting are not
///    considered again: pytorch #189504.)
/// 4. A freed block merges with idle neighbours. If other streams used it, it waits for an event of each. Every
///    allocation polls the events, the oldest of each stream first.
///
/// For one thread. The device must outlive it. Everything must be freed before it is destroyed. O(log n) per call.
class TorchModel : public Allocator {
 public:
  static constexpr Bytes kRounding{512};
  static constexpr Bytes kLargestSmall{std::int64_t{1} << 20};
  static constexpr Bytes kSmallSegment{std::int64_t{2} << 20};
  static constexpr Bytes kLargeSegment{std::int64_t{20} << 20};

  [[nodiscard]] DeviceId device() const override { return device_.id(); }

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  /// Waits for all work, as PyTorch does before it returns memory.
  Bytes trim() override;

  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override { account_.reset_peaks(); }
  [[nodiscard]] MemorySnapshot snapshot() const override;

 protected:
  explicit TorchModel(Device& device) : device_(device) {}

  /// A new idle block of at least that size, for this pool; it is not in `pool.idle`. Fails as the device does.
  virtual Result<TorchBlock*> grow(TorchPool& pool, Bytes size) = 0;
  /// The block of `pool.idle` that serves the request; the end if there is none.
  virtual std::set<TorchBlock*, TorchBySize>::iterator find(TorchPool& pool, Bytes size) = 0;
  /// Whether a block is split if this many bytes remain.
  [[nodiscard]] virtual bool splits(const TorchPool& pool, Bytes rest) const = 0;
  /// Returns the pool's memory that is entirely idle. Precondition: the work of its stream is complete.
  virtual void release(TorchPool& pool) = 0;

  Device& memory() const { return device_; }
  Account& account() { return account_; }
  TorchBlocks& blocks() { return blocks_; }
  [[nodiscard]] static std::set<TorchBlock*, TorchBySize>::iterator best_fit(TorchPool& pool, Bytes size);
  /// Merges the block with neighbours of the same kind, and adds it to the set of such blocks.
  void settle(TorchBlock& block);

 private:
  struct Deferred {
    EventId event;
    TorchBlock* block;
  };

  TorchPool& pool_of(StreamId stream, Bytes rounded);
  Result<TorchBlock*> obtain(TorchPool& pool, Bytes rounded);
  Error exhausted(Bytes size, const Error& cause) const;
  void join(TorchBlock& block, TorchBlock* neighbour);
  void defer(TorchBlock& block);
  void poll();
  void wait_for_deferred();
  void finish(const Deferred& deferred);
  void release_all();
  void wait_for(StreamId stream);

  Device& device_;
  Account account_;
  TorchBlocks blocks_;
  std::vector<std::unique_ptr<TorchPool>> pools_;  ///< Two per stream, the small one first; null until needed.
  std::unordered_map<std::byte*, TorchBlock*> live_;
  std::map<StreamId, std::deque<Deferred>> deferred_;  ///< By the stream that used them.
};

}  // namespace stowage::replaying
