#include "runtime/stream_heap.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "runtime/exiting.hpp"

namespace stowage::runtime {

StreamHeap::~StreamHeap() {
  for (Batch* left = left_.take(); left != nullptr;) recycle(std::exchange(left, left->next));
  if (process_is_exiting()) return;
  for (const Pending& pending : pending_) {
    for (const Use& use : pending.uses) forget(use);
  }
}

// ------------------------------------------------------------------------------------------------------ other streams

bool StreamHeap::add_use(std::byte* address, StreamId stream) {
  Span* const span = books.find(address);
  if (span == nullptr) return false;
  if (stream == stream_) return true;
  if (!std::exchange(span->used_elsewhere, true) && is_small(*span)) ++unkept_;
  std::vector<StreamId>& streams = uses_[span];
  if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
  return true;
}

void StreamHeap::wait_for_uses(Span* span) {
  span->used_elsewhere = false;
  if (is_small(*span)) --unkept_;
  const auto uses = uses_.extract(span);
  Pending pending{.span = span, .uses = {}};
  for (const StreamId stream : uses.mapped()) {
    const Result<EventId> event = record(stream);
    pending.uses.push_back({stream, event ? std::optional(*event) : std::nullopt});
  }
  span->pending = true;
  pending_.push_back(std::move(pending));
}

bool StreamHeap::is_done(Use& use) {
  if (!use.event) {
    const Result<EventId> event = host_.device.record(use.stream);
    if (!event) return false;
    use.event = *event;
  }
  const Result<bool> complete = host_.device.is_complete(*use.event);
  if (complete && !*complete) return false;
  forget(use);
  if (!complete) use.event.reset();  // for example captured into a graph: record another one later
  return complete.has_value();
}

/// An event recorded during a capture would become part of the graph; and when the process is exiting, the device may
/// be gone.
Result<EventId> StreamHeap::record(StreamId stream) const {
  const CaptureGate::Pass pass(host_.gate);
  if (process_is_exiting()) return Error{ErrorCode::unsupported, "the process is exiting", {}};
  if (!pass.allowed()) return Error{ErrorCode::unsupported, "a stream is being captured", {}};
  return host_.device.record(stream);
}

void StreamHeap::forget(const Use& use) {
  if (use.event) host_.device.forget(*use.event);
}

bool StreamHeap::collect() {
  const std::size_t before = pending_.size();
  std::erase_if(pending_, [&](Pending& pending) {
    std::erase_if(pending.uses, [&](Use& use) { return is_done(use); });
    if (!pending.uses.empty()) return false;
    pending.span->pending = false;
    free(pending.span);
    return true;
  });
  return pending_.size() < before;
}

std::vector<StreamId> StreamHeap::streams() const {
  std::vector<StreamId> streams{stream_};
  for (const auto& [span, users] : uses_) streams.insert(streams.end(), users.begin(), users.end());
  for (const Pending& pending : pending_) {
    for (const Use& use : pending.uses) streams.push_back(use.stream);
  }
  return streams;
}

// ------------------------------------------------------------------------------------------------------ other threads

void StreamHeap::take_in() {
  for (Batch* left = left_.take(); left != nullptr;) {
    free_all({left->blocks.data(), left->count});
    recycle(std::exchange(left, left->next));
  }
}

/// Magazines first: a magazine queues its closed outbox before it releases its lock.
bool StreamHeap::take_all_in() {
  std::vector<std::byte*> blocks;
  {
    const std::lock_guard lock(magazines_lock_);
    for (const std::shared_ptr<Magazine>& magazine : magazines_) {
      magazine->empty([&](std::byte* address) { blocks.push_back(address); });
    }
  }
  const bool any = !blocks.empty() || has_left();
  free_all(blocks);  // may call the device, so no magazine's lock is held
  take_in();
  return any;
}

/// Adopts a magazine that another thread abandoned, or makes a new one. Null if there is no host memory.
Magazine* StreamHeap::make_magazine() {
  std::shared_ptr<Magazine> magazine;
  try {
    const std::lock_guard lock(magazines_lock_);
    const auto left = std::ranges::find_if(magazines_, [](const auto& each) { return each->adopt(); });
    magazine = left != magazines_.end() ? *left : magazines_.emplace_back(std::make_shared<Magazine>(left_));
    return keep_magazine(number_, magazine);
  } catch (const std::bad_alloc&) {
    if (magazine != nullptr) magazine->abandon();
    return nullptr;
  }
}

StreamHeap::Counts StreamHeap::counts() const {
  Counts counts{books.requested() - overcount, allocations};
  const std::lock_guard lock(magazines_lock_);
  for (const std::shared_ptr<Magazine>& magazine : magazines_) {
    const Magazine::Counts more = magazine->counts();
    counts.requested -= more.rounding;
    counts.allocations += more.taken;
  }
  return counts;
}

void StreamHeap::reset_allocations() {
  allocations = 0;
  const std::lock_guard lock(magazines_lock_);
  for (const std::shared_ptr<Magazine>& magazine : magazines_) magazine->reset_taken();
}

}  // namespace stowage::runtime
