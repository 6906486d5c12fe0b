#include "graph_pools.hpp"

#include <algorithm>
#include <utility>

namespace stowage::torch {

// -------------------------------------------------------------------------------------------------------------- pools

void GraphPools::begin(TorchPoolId id, TorchStreamFilter filter) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<GraphPool>& pool = pools_[id];
  if (pool == nullptr) pool = std::make_unique<GraphPool>(device_, options_);
  ++pool->graphs;
  open_.push_back({id, std::move(filter), pool.get()});
  open_count_.store(static_cast<int>(open_.size()), std::memory_order_release);
}

bool GraphPools::end(TorchPoolId id) {
  const std::lock_guard lock(mutex_);
  const auto open = std::ranges::find(open_, id, &OpenPool::id);
  if (open == open_.end()) return false;
  open_.erase(open);
  open_count_.store(static_cast<int>(open_.size()), std::memory_order_release);
  return true;
}

bool GraphPools::release(TorchPoolId id) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(id);
  if (found == pools_.end() || --found->second->graphs > 0) return false;
  retired_.push_back(std::move(found->second));
  pools_.erase(found);
  return true;
}

void GraphPools::sweep() {
  const std::lock_guard lock(mutex_);
  if (!open_.empty()) return;
  std::erase_if(retired_, [](const std::unique_ptr<GraphPool>& pool) {
    if (!std::exchange(pool->swept, true)) pool->allocator.end_capture();
    if (pool->allocator.stats().live == 0) return true;
    pool->allocator.trim();
    return false;
  });
}

bool GraphPools::any_retired() const {
  const std::lock_guard lock(mutex_);
  return !retired_.empty();
}

// ------------------------------------------------------------------------------------------------------------- blocks

GraphPools::GraphPool* GraphPools::find_wanting(TorchStream native) const {
  const auto open = std::ranges::find_if(open_, [&](const OpenPool& each) { return each.wants(native); });
  return open == open_.end() ? nullptr : open->pool;
}

std::optional<Result<std::byte*>> GraphPools::allocate(Bytes size, TorchStream native, StreamId stream) {
  const std::lock_guard lock(mutex_);
  GraphPool* const pool = find_wanting(native);
  if (pool == nullptr) return std::nullopt;
  Result<std::byte*> address = pool->allocator.allocate(size, stream);
  if (address && *address != nullptr) {
    blocks_.emplace(*address, pool);
    note(*address);
  }
  return address;
}

bool GraphPools::free(std::byte* address, Bytes size, StreamId stream) {
  if (!may_have(address)) return false;
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return false;
  block->second->allocator.free(address, size, stream);
  blocks_.erase(block);
  return true;
}

bool GraphPools::record_use(std::byte* address, StreamId stream) {
  if (!may_have(address)) return false;
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(address);
  return block != blocks_.end() && block->second->allocator.record_use(address, stream);
}

/// A thread that frees an address is synchronized with the thread that allocated it, so it sees bounds that include it.
bool GraphPools::may_have(const std::byte* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return number >= lowest_.load(std::memory_order_relaxed) && number <= highest_.load(std::memory_order_relaxed);
}

void GraphPools::note(const std::byte* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  lowest_.store(std::min(lowest_.load(std::memory_order_relaxed), number), std::memory_order_relaxed);
  highest_.store(std::max(highest_.load(std::memory_order_relaxed), number), std::memory_order_relaxed);
}

// ------------------------------------------------------------------------------------------------------------ figures

template <class Visit>
void GraphPools::visit_all(const Visit& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, pool] : pools_) visit(pool->allocator);
  for (const std::unique_ptr<GraphPool>& pool : retired_) visit(pool->allocator);
}

GraphPools::Figures GraphPools::figures() const {
  Figures figures;
  visit_all([&](const StreamAllocator& allocator) {
    const AllocatorStats stats = allocator.stats();
    ++figures.pools;
    figures.sum.requested += stats.requested;
    figures.sum.rounded += stats.rounded;
    figures.sum.reserved += stats.reserved;
    figures.sum.live += stats.live;
  });
  return figures;
}

void GraphPools::snapshot(std::vector<MemorySnapshot>& snapshots) const {
  visit_all([&](const StreamAllocator& allocator) { snapshots.push_back(allocator.snapshot()); });
}

void GraphPools::reset_peaks() {
  visit_all([](StreamAllocator& allocator) { allocator.reset_peaks(); });
}

}  // namespace stowage::torch
