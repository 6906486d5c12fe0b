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

/// What PyTorch's CUDACachingAllocator (2.x, default settings) does, on any device: the yardstick for waste. What its
/// two modes share; how memory is had from the device is the matter of the derived class. Written from its documented
/// and observed behaviour:
///
///  1. Sizes are rounded up to 512 bytes. Every stream has a pool for sizes up to 1 MiB and one for those above.
///  2. The smallest idle block that is large enough serves a request, the one with the lowest address among equals; it
///  is split
///     where the rest is worth it.
///  3. Without one, the pool grows. Where the device has no memory left, all deferred frees are waited for, all memory
///  that is
///     idle as a whole is returned, and growing is tried once more. (Blocks that became idle by waiting are not looked
///     at again: pytorch #189504.)
///  4. A freed block merges with idle neighbours. One that other streams used waits for an event of each; events are
///  looked at in
///     every allocation, the oldest of each stream first.
///
/// One thread. The device must outlive it. Everything must be freed before it is destroyed. O(log n) per call.
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

  /// An idle block of the pool of at least that size, fresh from the device; it is not in `pool.idle`. Fails as the
  /// device does.
  virtual Result<TorchBlock*> grow(TorchPool& pool, Bytes size) = 0;
  /// The block of `pool.idle` that is to serve the request; the end where there is none.
  virtual std::set<TorchBlock*, TorchBySize>::iterator find(TorchPool& pool, Bytes size) = 0;
  /// Whether so much of a block is worth being cut off.
  [[nodiscard]] virtual bool splits(const TorchPool& pool, Bytes rest) const = 0;
  /// Returns what of the pool is idle as a whole. Its stream's work is complete.
  virtual void release(TorchPool& pool) = 0;

  Device& memory() const { return device_; }
  Account& account() { return account_; }
  TorchBlocks& blocks() { return blocks_; }
  [[nodiscard]] static std::set<TorchBlock*, TorchBySize>::iterator best_fit(TorchPool& pool, Bytes size);
  /// Joins the block with what is before and behind it of its own kind, and puts it where such blocks are kept.
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
  std::vector<std::unique_ptr<TorchPool>> pools_;  ///< By stream, the small one first; null where there is none yet.
  std::unordered_map<std::byte*, TorchBlock*> live_;
  std::map<StreamId, std::deque<Deferred>> deferred_;  ///< By the stream that used them.
};

}  // namespace stowage::replaying
