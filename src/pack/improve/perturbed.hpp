#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "pack/greedy/indexed_skyline.hpp"
#include "pack/greedy/priority.hpp"
#include "pack/plain.hpp"

namespace stowage::pack {

/// Improves the skyline greedy's answer by running it again and again, each time with other priorities:
///
/// 1. Tries every priority of `kPriorities` until one reaches the bound, which is optimal.
/// 2. Then changes the priorities of the best run at random, for a few, some or all items of the *hard core*; keeps the
///    result if it is no worse.
///
/// The hard core consists of the items in sections that are nearly as full as the fullest, or that contain something
/// above the bound; everything else fits anyway. In large models the core is a small part, and changing other items
/// only adds noise. A run ends as soon as it cannot match the best. Every run is O(n log n) in practice. Keeps a
/// reference to `plain`. Not thread-safe.
class PerturbedSkyline {
 public:
  /// The number of runs that use a priority of `kPriorities`; later runs are perturbed.
  static constexpr std::uint64_t kStarts = kPriorities.size();

  struct Best {
    std::int64_t peak = ValleyList::kNoLevel;
    std::vector<std::int64_t> offsets = {};
  };

  /// Equal problems and seeds give equal runs.
  PerturbedSkyline(const Plain& plain, std::uint64_t seed);

  /// Continues where the last call ended, until the bound is reached, `max_runs` further runs are made, or `stop`
  /// returns true; `stop` is polled before each run except the very first. `on_better` receives every better answer.
  /// There is a complete answer after any call with `max_runs` > 0.
  const Best& improve(std::uint64_t max_runs, const std::function<bool()>& stop,
                      const std::function<void(const Best&)>& on_better);

  [[nodiscard]] const Best& best() const { return best_; }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }

 private:
  [[nodiscard]] std::vector<double> next_priorities();
  void find_core();
  [[nodiscard]] double uniform();

  const Plain& plain_;
  IndexedSkyline skyline_;
  std::mt19937_64 random_;
  std::uint64_t runs_ = 0;
  Best best_;
  std::vector<double> base_;           ///< The priorities of the best run.
  std::vector<std::uint32_t> core_;    ///< The hard core of the best answer.
  std::vector<std::int64_t> offsets_;  ///< Of the current run.
};

}  // namespace stowage::pack
