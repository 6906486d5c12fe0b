#include "replay/torch/model.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage::replaying {

std::vector<const TorchBlock*> TorchBlocks::heads() const {
  std::vector<const TorchBlock*> heads;
  for (const TorchBlock& block : all_) {
    if (block.address != nullptr && block.before == nullptr) heads.push_back(&block);
  }
  std::sort(heads.begin(), heads.end(), TorchByAddress());
  return heads;
}

TorchPool& TorchModel::pool_of(StreamId stream, Bytes rounded) {
  const bool small = rounded <= kLargestSmall;
  const std::size_t index = 2 * stream.index() + (small ? 0 : 1);
  if (index >= pools_.size()) pools_.resize(index + 1);
  if (!pools_[index]) pools_[index] = std::make_unique<TorchPool>(TorchPool{stream, small});
  return *pools_[index];
}

// ----------------------------------------------------------------------------------------------------------- allocate

Result<std::byte*> TorchModel::allocate(Bytes size, StreamId stream) {
  if (size == Bytes(0)) return nullptr;
  if (size < Bytes(0) || size > kMaxBytes) {
    return Error{ErrorCode::invalid, fmt::format("{}: {} bytes requested", device_.name(), size.value()), {}};
  }
  poll();
  const Bytes rounded = align_up(size, kRounding);
  TorchPool& pool = pool_of(stream, rounded);
  Result<TorchBlock*> found = obtain(pool, rounded);
  if (!found) {
    ++account_.stats().failures;
    return exhausted(size, found.error());
  }
  TorchBlock& block = **found;
  if (splits(pool, block.size - rounded)) pool.idle.insert(&blocks_.split(block, rounded));
  block.live = true;
  block.requested = size;
  live_.emplace(block.address, &block);
  account_.allocated(size, block.size);
  return block.address;
}

Result<TorchBlock*> TorchModel::obtain(TorchPool& pool, Bytes rounded) {
  if (const auto found = find(pool, rounded); found != pool.idle.end()) {
    TorchBlock* const block = *found;
    pool.idle.erase(found);
    return block;
  }
  Result<TorchBlock*> grown = grow(pool, rounded);
  if (grown || grown.error().code != ErrorCode::out_of_memory) return grown;
  wait_for_deferred();
  release_all();
  return grow(pool, rounded);
}

std::set<TorchBlock*, TorchBySize>::iterator TorchModel::best_fit(TorchPool& pool, Bytes size) {
  TorchBlock key;
  key.size = size;
  return pool.idle.lower_bound(&key);
}

Error TorchModel::exhausted(Bytes size, const Error& cause) const {
  const AllocatorStats now = stats();
  return {cause.code,
          fmt::format("{} bytes requested; {} live, {} reserved, {} idle, the largest idle block has {}: {}",
                      size.value(), now.requested.value(), now.reserved.value(), (now.reserved - now.rounded).value(),
                      now.largest_idle.value(), cause.message),
          cause.where};
}

// --------------------------------------------------------------------------------------------------------------- free

void TorchModel::free(std::byte* address, Bytes size, StreamId stream) {
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  TorchBlock& block = *found->second;
  if (block.requested != size || block.pool->stream != stream) return;
  live_.erase(found);
  account_.freed(size, block.size);
  block.live = false;
  block.requested = Bytes(0);
  if (!block.uses.empty()) defer(block);
  if (block.pending == 0) settle(block);
}

Status TorchModel::record_use(std::byte* address, StreamId stream) {
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return Error{ErrorCode::invalid, fmt::format("{}: {} is not an allocation", device_.name(), fmt::ptr(address)), {}};
  }
  TorchBlock& block = *found->second;
  const bool known = std::find(block.uses.begin(), block.uses.end(), stream) != block.uses.end();
  if (stream != block.pool->stream && !known) block.uses.push_back(stream);
  return Done{};
}

void TorchModel::join(TorchBlock& block, TorchBlock* neighbour) {
  if (neighbour == nullptr || !neighbour->idle() || neighbour->mapped != block.mapped) return;
  if (block.mapped) {
    block.pool->idle.erase(neighbour);
  } else {
    block.pool->unmapped.erase(neighbour);
  }
  block.address = std::min(block.address, neighbour->address);
  block.size += neighbour->size;
  blocks_.drop(*neighbour);
}

void TorchModel::settle(TorchBlock& block) {
  join(block, block.before);
  join(block, block.after);
  if (block.mapped) {
    block.pool->idle.insert(&block);
  } else {
    block.pool->unmapped.insert(&block);
  }
}

// ------------------------------------------------------------------------------------------------------------- events

void TorchModel::defer(TorchBlock& block) {
  for (const StreamId stream : block.uses) {
    if (const Result<EventId> event = device_.record(stream)) {
      deferred_[stream].push_back({*event, &block});
      ++block.pending;
    } else {
      wait_for(stream);
    }
  }
  block.uses.clear();
}

void TorchModel::finish(const Deferred& deferred) {
  device_.forget(deferred.event);
  if (--deferred.block->pending == 0) settle(*deferred.block);
}

void TorchModel::poll() {
  for (auto& [stream, queue] : deferred_) {
    while (!queue.empty()) {
      const Result<bool> complete = device_.is_complete(queue.front().event);
      if (!complete || !*complete) break;
      finish(queue.front());
      queue.pop_front();
    }
  }
}

/// If waiting for a stream fails, its work has failed too, so the failure is ignored.
void TorchModel::wait_for(StreamId stream) {
  (void)device_.synchronize(stream);
  ++account_.stats().event_waits;
}

void TorchModel::wait_for_deferred() {
  for (auto& [stream, queue] : deferred_) {
    if (!queue.empty()) wait_for(stream);
    for (; !queue.empty(); queue.pop_front()) finish(queue.front());
  }
}

// --------------------------------------------------------------------------------------------------------------- trim

void TorchModel::release_all() {
  for (const std::unique_ptr<TorchPool>& pool : pools_) {
    if (!pool || pool->idle.empty()) continue;
    wait_for(pool->stream);
    release(*pool);
  }
}

Bytes TorchModel::trim() {
  const Bytes before = account_.stats().reserved;
  wait_for_deferred();
  release_all();
  return before - account_.stats().reserved;
}

// ------------------------------------------------------------------------------------------------------------ figures

AllocatorStats TorchModel::stats() const {
  AllocatorStats stats = account_.stats();
  for (const std::unique_ptr<TorchPool>& pool : pools_) {
    if (pool && !pool->idle.empty()) stats.largest_idle = std::max(stats.largest_idle, (*pool->idle.rbegin())->size);
  }
  return stats;
}

MemorySnapshot TorchModel::snapshot() const {
  using State = MemorySnapshot::BlockState;
  MemorySnapshot snapshot{.device = device(), .segments = {}};
  for (const TorchBlock* block : blocks_.heads()) {
    bool open = false;  // whether the last segment continues
    for (; block != nullptr; block = block->after) {
      if (block->mapped && !open)
        snapshot.segments.push_back({block->address, Bytes(0), block->pool->stream, false, {}});
      open = block->mapped;
      if (!open) continue;
      const State state = block->live ? State::live : block->pending > 0 ? State::pending : State::idle;
      snapshot.segments.back().blocks.push_back({block->address, block->size, block->requested, state});
      snapshot.segments.back().size += block->size;
    }
  }
  return snapshot;
}

}  // namespace stowage::replaying
