#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "pack/greedy/indexed_skyline.hpp"
#include "pack/greedy/priority.hpp"
#include "pack/plain.hpp"

namespace stowage::pack {

/// Improves the skyline greedy's answer by running it again and again, each time with other priorities.
///
/// 1. Every priority of `kPriorities` until one reaches the bound, which nothing can beat.
/// 2. Then the best one's priorities, changed at random for a few, some or all items of the *hard core*; a run that is
/// no
///    worse is kept.
///
/// The hard core are the items in sections that are nearly as full as the fullest or that hold something above the
/// bound: what lies elsewhere fits anyway. Of large models it is a small part, and changing the rest as well only adds
/// noise. A run ends as soon as it cannot match the best. Every run is O(n log n) in practice; keeps a reference to
/// `plain`; not thread-safe.
class PerturbedSkyline {
 public:
  /// Runs that begin with a priority of their own; from there on they are perturbed.
  static constexpr std::uint64_t kStarts = kPriorities.size();

  struct Best {
    std::int64_t peak = ValleyList::kNoLevel;
    std::vector<std::int64_t> offsets = {};
  };

  /// Equal problems and seeds give equal runs.
  PerturbedSkyline(const Plain& plain, std::uint64_t seed);

  /// Goes on from where the last call ended, until the bound is reached, `max_runs` further runs are made or `stop`,
  /// asked before each run but the very first, says so. `on_better` receives every better answer. The answer is
  /// complete after any call with `max_runs` > 0.
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
  std::vector<double> base_;           ///< The priorities of the best.
  std::vector<std::uint32_t> core_;    ///< The hard core of the best.
  std::vector<std::int64_t> offsets_;  ///< Of the run at hand.
};

}  // namespace stowage::pack
