#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stowage/alloc/scheduler.hpp"

namespace stowage::scheduling {

/// Which backend's stream still uses which memory, and the waiting that follows from it.
///
/// Before work on a backend is submitted, `enter` waits for others that use the memory; behind it, `leave` records an
/// event for that memory. Between the two, and for ever if something fails in between, the backend counts as using
/// everything. Not thread-safe.
class MemoryUses {
 public:
  /// `memories` counts the backends' and any others.
  MemoryUses(std::span<const Backend> backends, std::size_t memories, SchedulerCounters& counters);
  /// Forgets the events; waits for nothing.
  ~MemoryUses();
  MemoryUses(const MemoryUses&) = delete;
  MemoryUses& operator=(const MemoryUses&) = delete;

  /// From now on work of `backend` may use `memory`: whatever else uses it is complete, or ordered before it.
  Status enter(std::size_t backend, std::size_t memory);
  /// All work of `backend` on `memories` has been submitted.
  Status leave(std::size_t backend, std::span<const std::size_t> memories);

  /// A mark behind everything that has been submitted so far: an event for each backend that may be at work.
  struct Mark {
    struct Point {
      std::size_t backend;
      EventId event;
    };
    std::vector<Point> points = {};
  };
  /// When a device fails, `mark` is as it was.
  Status record(Mark& mark);
  /// The host waits for what the mark says; the mark is empty then.
  Status wait(Mark& mark);
  void forget(Mark& mark);

  /// The host waits for one backend.
  Status synchronize(std::size_t backend);
  /// The host waits for all. One that fails does not keep it from the others; the first error is returned.
  Status synchronize_all();

 private:
  /// The last moment of a backend's work on a memory.
  struct BackendUse {
    std::size_t backend;
    EventId event;
  };
  Status join(std::size_t backend, const BackendUse& use);
  void drop(std::size_t backend);

  std::span<const Backend> backends_;
  SchedulerCounters& counters_;
  std::vector<std::vector<BackendUse>> uses_;  ///< By memory; at most one for each backend.
  std::vector<bool> at_work_;  ///< By backend: has submitted, or may have, what no event of `uses_` stands behind.
  std::vector<bool> touched_;  ///< By backend: has submitted anything since it was last waited for.
};

}  // namespace stowage::scheduling
