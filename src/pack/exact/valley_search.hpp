#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pack/plain.hpp"

namespace stowage::pack {

/// Which section to branch on: the fewest options, and among those …
enum class Branching : std::uint8_t {
  most_conflicts,      ///< … the one that took part in most failures.
  options_per_weight,  ///< Options divided by failures, in one number.
};

/// How much of a failure's causes its explanation names.
enum class Explanations : std::uint8_t {
  full,   ///< All of them.
  brief,  ///< Not what keeps an item from lying below. The search jumps back farther, now and then over solutions, and
          ///< proves nothing.
};

/// How one run of the search goes about it.
struct SearchStyle {
  Branching branching = Branching::options_per_weight;
  Explanations explanations = Explanations::full;
  std::vector<double> priority;  ///< By item: larger is tried first.
};

enum class SearchEnd : std::uint8_t {
  solved,
  exhausted,  ///< There is no solution: a proof.
  gave_up,    ///< Out of nodes or time, or nothing found with brief explanations.
};

/// Exact search for a placement whose peak does not exceed a target.
///
/// Every packing can be pushed down until each item rests on the ground or on another item, and built bottom-up, each
/// item above those that it meets and that were placed before. So the search keeps, for each unplaced item, a lower
/// limit of its offset, and from these for each section a *floor*, the lowest limit of an item there:
/// 1. *Prune* when in some section the floor plus the bytes still to come exceed the target.
/// 2. *Branch* on a section in a valley of the floors: either one of the items whose limit is the floor is placed
/// there, or
///    none is, and the floor rises: each of them must then rest on something that is still to be placed, which gives it
///    a higher limit.
/// 3. *Explain* each failure by a set of sections on whose content it depends: the section that overflowed, and for
/// each
///    raised limit the sections that raised it. A failure that does not depend on an item's sections does not depend on
///    where the item was put, and the search jumps back over that choice.
///
/// Items of the very same sections that lie on each other could change places, so that only one order of them is tried.
///
/// Sections that failed often are branched on early; of what one run learns there a tenth is kept for the next, which
/// the caller starts with another style. Rejected, for they cost more than they saved on every hard instance: trying
/// first what an item had in the last run (phase saving), and pruning by what cannot lie below each level of a section
/// instead of its floor only. Sound with any alignment. Memory: 4 bytes for each neighbour of each item, sections × n /
/// 64 words for explanations. Deterministic. Not thread-safe.
class ValleySearch {
 public:
  virtual ~ValleySearch() = default;

  /// Searches for a peak of at most `target` within so many nodes; `stop` is asked now and then. `offsets` is set when
  /// solved.
  virtual SearchEnd run(std::int64_t target, const SearchStyle& style, std::uint64_t node_limit,
                        const std::function<bool()>& stop, std::vector<std::int64_t>& offsets) = 0;
  /// Nodes visited so far, by all runs.
  [[nodiscard]] virtual std::uint64_t nodes() const = 0;
  /// A new search of the same problem that shares what never changes.
  [[nodiscard]] virtual std::unique_ptr<ValleySearch> fresh() const = 0;

  /// Nothing when the problem is too large for it: more than 4,096 items, 2,560 sections or 4 million pairs that meet.
  static std::unique_ptr<ValleySearch> make(const Plain& plain);
};

}  // namespace stowage::pack
