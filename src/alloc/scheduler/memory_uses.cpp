#include "alloc/scheduler/memory_uses.hpp"

#include <algorithm>
#include <utility>

namespace stowage::scheduling {

MemoryUses::MemoryUses(std::span<const Backend> backends, std::size_t memories, SchedulerCounters& counters)
    : backends_(backends), counters_(counters), uses_(memories), at_work_(backends.size()), touched_(backends.size()) {}

MemoryUses::~MemoryUses() {
  for (std::size_t b = 0; b < backends_.size(); ++b) drop(b);
}

Status MemoryUses::enter(std::size_t backend, std::size_t memory) {
  for (std::size_t other = 0; other < backends_.size(); ++other) {
    if (other != backend && at_work_[other]) STOWAGE_TRY_STATUS(synchronize(other));
  }
  const std::vector<BackendUse> uses = uses_[memory];
  for (const BackendUse& use : uses) {
    if (use.backend != backend) STOWAGE_TRY_STATUS(join(backend, use));
  }
  at_work_[backend] = true;
  touched_[backend] = true;
  return Done{};
}

Status MemoryUses::join(std::size_t backend, const BackendUse& use) {
  const Backend& other = backends_[use.backend];
  const Backend& self = backends_[backend];
  if (other.device == self.device) {
    if (other.stream == self.stream) return Done{};
    ++counters_.event_waits;
    return self.device->wait(self.stream, use.event);
  }
  STOWAGE_TRY(const bool complete, other.device->is_complete(use.event));
  return complete ? Status(Done{}) : synchronize(use.backend);
}

Status MemoryUses::leave(std::size_t backend, std::span<const std::size_t> memories) {
  for (const std::size_t memory : memories) {
    STOWAGE_TRY(const EventId event, backends_[backend].device->record(backends_[backend].stream));
    std::vector<BackendUse>& uses = uses_[memory];
    const auto known =
        std::find_if(uses.begin(), uses.end(), [&](const BackendUse& use) { return use.backend == backend; });
    if (known == uses.end()) {
      uses.push_back({backend, event});
    } else {
      backends_[backend].device->forget(std::exchange(known->event, event));
    }
  }
  at_work_[backend] = false;
  return Done{};
}

Status MemoryUses::record(Mark& mark) {
  Mark made;
  for (std::size_t b = 0; b < backends_.size(); ++b) {
    if (!touched_[b]) continue;
    Result<EventId> event = backends_[b].device->record(backends_[b].stream);
    if (!event) {
      forget(made);
      return std::move(event).error();
    }
    made.points.push_back({b, *event});
  }
  forget(mark);
  mark = std::move(made);
  return Done{};
}

Status MemoryUses::wait(Mark& mark) {
  for (; !mark.points.empty(); mark.points.pop_back()) {
    const Mark::Point point = mark.points.back();
    Device& device = *backends_[point.backend].device;
    STOWAGE_TRY(const bool complete, device.is_complete(point.event));
    if (!complete) STOWAGE_TRY_STATUS(synchronize(point.backend));
    device.forget(point.event);
  }
  return Done{};
}

void MemoryUses::forget(Mark& mark) {
  for (const Mark::Point& point : mark.points) backends_[point.backend].device->forget(point.event);
  mark.points.clear();
}

Status MemoryUses::synchronize(std::size_t backend) {
  STOWAGE_TRY_STATUS(backends_[backend].device->synchronize(backends_[backend].stream));
  ++counters_.synchronizations;
  drop(backend);
  at_work_[backend] = false;
  touched_[backend] = false;
  return Done{};
}

Status MemoryUses::synchronize_all() {
  Status first = Done{};
  for (std::size_t b = 0; b < backends_.size(); ++b) {
    if (!touched_[b]) continue;
    if (Status status = synchronize(b); !status && first) first = std::move(status);
  }
  return first;
}

void MemoryUses::drop(std::size_t backend) {
  for (std::vector<BackendUse>& uses : uses_) {
    std::erase_if(uses, [&](const BackendUse& use) {
      if (use.backend == backend) backends_[backend].device->forget(use.event);
      return use.backend == backend;
    });
  }
}

}  // namespace stowage::scheduling
