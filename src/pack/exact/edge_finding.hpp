#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace stowage::pack {

/// Something that takes `length` somewhere within [release, deadline), apart from all others of its kind.
struct EdgeTask {
  std::int64_t release;
  std::int64_t length;
  std::int64_t deadline;
  std::uint32_t tag;
};

/// Edge-finding on one machine, as in job-shop scheduling: for a set of tasks that leaves no room for another before
/// its last deadline, that other comes after all of the set, and its release rises to where the set is done at the
/// earliest. With the same from the other end. Algorithm: Baptiste, Le Pape, Nuijten, "Constraint-Based Scheduling"
/// (2001), section 2.1.4. O(n²). Not thread-safe (scratch memory).
class EdgeFinder {
 public:
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min() / 2;

  /// Raises the releases and lowers the deadlines of `tasks`, whose order changes. False when they do not fit.
  bool run(std::vector<EdgeTask>& tasks);

 private:
  bool raise_releases(std::vector<EdgeTask>& tasks);
  bool apply_deadline(const std::vector<EdgeTask>& tasks, std::int64_t deadline);

  std::vector<std::int64_t> ends_;    ///< When what is released from this task on, with a deadline in time, is done.
  std::vector<std::int64_t> raised_;  ///< The new releases.
  std::vector<std::int64_t> deadlines_;
  std::int64_t longest_ = 0;
};

}  // namespace stowage::pack
