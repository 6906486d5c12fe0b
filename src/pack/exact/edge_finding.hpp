#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace stowage::pack {

/// A task that takes `length` somewhere within [release, deadline), without overlap with others.
struct EdgeTask {
  std::int64_t release;
  std::int64_t length;
  std::int64_t deadline;
  std::uint32_t tag;
};

/// Edge-finding on one machine, as in job-shop scheduling: if a set of tasks leaves no room for another task before its
/// latest deadline, that task must come after the whole set, and its release rises to the earliest time at which the
/// set can be done. The same is done from the other end. Algorithm: Baptiste, Le Pape, Nuijten, "Constraint-Based
/// Scheduling" (2001), section 2.1.4. O(n²). Not thread-safe (scratch memory).
class EdgeFinder {
 public:
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min() / 2;

  /// Raises the releases and lowers the deadlines of `tasks`, whose order changes. Returns false when the tasks do not
  /// fit.
  bool run(std::vector<EdgeTask>& tasks);

 private:
  bool raise_releases(std::vector<EdgeTask>& tasks);
  bool apply_deadline(const std::vector<EdgeTask>& tasks, std::int64_t deadline);

  /// By task: the earliest end of the tasks released from this one on whose deadlines are early enough.
  std::vector<std::int64_t> ends_;
  std::vector<std::int64_t> raised_;  ///< The new releases.
  std::vector<std::int64_t> deadlines_;
  std::int64_t longest_ = 0;
};

}  // namespace stowage::pack
