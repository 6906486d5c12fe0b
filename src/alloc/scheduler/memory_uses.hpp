#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stowage/alloc/scheduler.hpp"

namespace stowage::scheduling {

/// Tracks which backend's stream still uses which memory, and waits accordingly.
///
/// `enter` must be called before work on a backend is submitted; it waits for other backends that use the memory.
/// `leave` must be called after the work is submitted; it records an event for that memory. Between the two calls, and
/// permanently if something fails there, the backend counts as using every memory. Not thread-safe.
class MemoryUses {
 public:
  /// `memories` counts the backends' memories and any others.
  MemoryUses(std::span<const Backend> backends, std::size_t memories, SchedulerCounters& counters);
  /// Forgets the events without waiting for them.
  ~MemoryUses();
  MemoryUses(const MemoryUses&) = delete;
  MemoryUses& operator=(const MemoryUses&) = delete;

  /// Returns once work of `backend` may use `memory`: all other work on it is complete or ordered before.
  Status enter(std::size_t backend, std::size_t memory);
  /// Must be called when all work of `backend` on `memories` has been submitted.
  Status leave(std::size_t backend, std::span<const std::size_t> memories);

  /// A point after everything that has been submitted so far: one event for each backend that may have work in flight.
  struct Mark {
    struct Point {
      std::size_t backend;
      EventId event;
    };
    std::vector<Point> points = {};
  };
  /// If a device fails, `mark` is unchanged.
  Status record(Mark& mark);
  /// The host waits for the events of the mark, which is empty afterwards.
  Status wait(Mark& mark);
  void forget(Mark& mark);

  /// The host waits for one backend.
  Status synchronize(std::size_t backend);
  /// The host waits for all backends, even if one fails; the first error is returned.
  Status synchronize_all();

 private:
  /// The event recorded after a backend's latest work on a memory.
  struct BackendUse {
    std::size_t backend;
    EventId event;
  };
  Status join(std::size_t backend, const BackendUse& use);
  void drop(std::size_t backend);

  std::span<const Backend> backends_;
  SchedulerCounters& counters_;
  std::vector<std::vector<BackendUse>> uses_;  ///< By memory; at most one per backend.
  /// By backend: may have submitted work that no event in `uses_` covers.
  std::vector<bool> at_work_;
  /// By backend: has submitted something since it was last waited for.
  std::vector<bool> touched_;
};

}  // namespace stowage::scheduling
