#include "runtime/plan_ahead/foreign_uses.hpp"

#include <algorithm>
#include <utility>

#include "runtime/exiting.hpp"

namespace stowage::runtime {
namespace {

/// Returns whether the stream was added, that is, was not in the list before.
bool add_once(std::vector<StreamId>& streams, StreamId stream) {
  if (std::find(streams.begin(), streams.end(), stream) != streams.end()) return false;
  streams.push_back(stream);
  return true;
}

}  // namespace

ForeignUses::~ForeignUses() {
  if (process_is_exiting()) return;
  for (const Pending& pending : pending_) device_.forget(pending.event);
}

void ForeignUses::used(Bytes offset, StreamId stream) {
  const std::size_t room = pending_.size() + live_uses_ + 1;
  if (pending_.capacity() < room) pending_.reserve(2 * room);
  add_once(streams_, stream);
  if (add_once(live_[offset], stream)) ++live_uses_;
}

bool ForeignUses::freed(ByteRange bytes) {
  const auto found = live_.find(bytes.lower);
  if (found == live_.end()) return true;
  const std::vector<StreamId> streams = std::move(found->second);
  live_.erase(found);
  live_uses_ -= streams.size();
  bool known = true;
  for (const StreamId stream : streams) {
    if (const Result<EventId> event = device_.record(stream)) {
      pending_.push_back({bytes, *event});
    } else if (!device_.synchronize(stream)) {
      known = false;
    }
  }
  return known;
}

bool ForeignUses::order(ByteRange bytes, StreamId stream) {
  std::size_t kept = 0;
  bool ordered = true;
  for (const Pending pending : pending_) {
    const Result<bool> complete = device_.is_complete(pending.event);
    if (complete && *complete) {
      device_.forget(pending.event);
      continue;
    }
    // Kept even after a wait: another stream may get another part of the bytes.
    pending_[kept++] = pending;
    if (pending.bytes.overlaps(bytes) && !device_.wait(stream, pending.event)) ordered = false;
  }
  pending_.resize(kept, Pending{});
  return ordered;
}

}  // namespace stowage::runtime
