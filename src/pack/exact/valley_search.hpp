#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pack/plain.hpp"

namespace stowage::pack {

/// Which section to branch on.
enum class Branching : std::uint8_t {
  most_conflicts,      ///< The one with the fewest options; among those, the one with the most failures.
  options_per_weight,  ///< The one with the smallest ratio of options to failures.
};

/// How much of a failure's causes its explanation names.
enum class Explanations : std::uint8_t {
  full,  ///< All of them.
  /// Leaves out what keeps an item from lying lower. The search jumps back farther, sometimes over solutions, and
  /// proves nothing.
  brief,
};

/// The settings of one run of the search.
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
/// Every packing can be pushed down until each item rests on the ground or on another item, and can be built bottom-up,
/// each item above those that it meets and that were placed before. So the search keeps a lower limit of the offset for
/// each unplaced item, and for each section a *floor*, the lowest limit of an unplaced item there:
/// 1. *Prune* when, in some section, the floor plus the remaining bytes exceed the target.
/// 2. *Branch* on a section in a valley of the floors: either one of the items whose limit is the floor is placed
///    there, or none is, and the floor rises. In the latter case, each of them must rest on an item that is still
///    unplaced, which gives it a higher limit.
/// 3. *Explain* each failure by a set of sections on whose content it depends: the section that overflowed, and for
///    each raised limit the sections that raised it. A failure that does not depend on an item's sections does not
///    depend on where the item was put, and the search jumps back over that choice.
///
/// Items with exactly the same sections that lie on each other could change places, so only one order of them is tried.
///
/// Sections that failed often are branched on early. A tenth of these failure counts is kept for the next run, which
/// the caller starts with another style. Rejected, because they cost more than they saved on every hard instance:
/// trying first what an item had in the last run (phase saving), and pruning by what cannot lie below each level of a
/// section instead of by its floor only.
///
/// Sound with any alignment, and sizes need not be multiples of it: a section is pruned by the bytes that its items
/// *take* (`with_taken_sizes`), of which only the topmost may end above the target; and where alignments differ, also
/// by what the items of at least some alignment take among themselves.
///
/// Memory: 4 bytes for each neighbour of each item, 8 for each section of each item, sections × n / 64 words for
/// explanations, and up to 80 MiB for undoing the current path; a run that needs more gives up. Deterministic. Not
/// thread-safe.
class ValleySearch {
 public:
  virtual ~ValleySearch() = default;

  /// Searches for a peak of at most `target`, visiting at most `node_limit` nodes; `stop` is polled now and then.
  /// `offsets` is set when solved.
  virtual SearchEnd run(std::int64_t target, const SearchStyle& style, std::uint64_t node_limit,
                        const std::function<bool()>& stop, std::vector<std::int64_t>& offsets) = 0;
  /// Nodes visited so far, by all runs.
  [[nodiscard]] virtual std::uint64_t nodes() const = 0;
  /// Exchanges the failure counts of the sections, a tenth of which the next run starts with. Empty: no failures.
  virtual void exchange_failures(std::vector<double>& failures) = 0;
  /// A new search of the same problem that shares its immutable data.
  [[nodiscard]] virtual std::unique_ptr<ValleySearch> fresh() const = 0;

  /// Null when the problem is too large: more than 4,096 items, 2,560 sections or 4 million pairs that meet.
  static std::unique_ptr<ValleySearch> make(const Plain& plain);
};

}  // namespace stowage::pack
