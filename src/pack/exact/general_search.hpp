#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pack/exact/valley_search.hpp"
#include "stowage/plan.hpp"

namespace stowage::pack {

/// Exact search for positions whose peak does not exceed a target, for any `Problem`: several pieces per item, pins,
/// several regions, stream order.
///
/// The search does not decide where items lie but how each two items that meet lie relative to each other. Two items in
/// a region do not conflict iff the difference d of their offsets is in none of finitely many forbidden ranges (one for
/// each two pieces that meet). So a *relation* of the two is one of the gaps between these ranges: d ≥ a, or d ≤ b, or
/// both. Searching over offsets instead ("rests on the ground or on a placed item") is incomplete here: with several
/// pieces, two items can support each other, and neither can be placed first.
///
/// Why it is complete:
/// 1. Every answer has one region for each item and one relation for each pair. Each branching splits on "in this
///    region or not", or on "d ≤ a or d ≥ b" around a forbidden range, so no answer is lost.
/// 2. Everything else removes only values that no answer of the branch has, except for twins: of the answers that
///    differ by exchanging equal items or equal regions, only the one is kept whose list of regions, in a fixed order
///    of the items, is smallest, and in which equal items in a region ascend.
/// 3. Relations, alignment and pins have the form "the offset of b is at least a monotone function of the offset of a".
///    Such a system has a least solution, which is least in every offset at once. The search keeps it as the *lower
///    limits* of the offsets. When these violate no pair they are an answer, and no other answer of the branch has a
///    lower top anywhere.
/// 4. Each branching shrinks the gaps of a pair or the regions of an item, so the search ends.
///
/// Steps:
/// 1. *Propagate* limits from both sides through the relations. A pair with only one gap left takes it. In each clique
///    of pairwise disjoint pieces (all those at a step; with stream order, items that are pairwise unordered), apply
///    edge-finding as in job-shop scheduling, which includes the argument "lowest limit + remaining bytes > highest
///    limit".
/// 2. *Branch* on the region of the largest item that has several; then on a pair that overlaps at the lower limits:
///    the one with the least slack relative to its failures so far, the roomier side first.
/// 3. *Restart* with longer runs, keeping the failure counts. Only a run that ends by itself is a proof.
///
/// Rejected: placing items in order of offset (see above); a list of candidate offsets (sums of sizes: too many). Tried
/// briefly and left out: going bottom-up instead of by slack (fewer small problems proven); keeping most relations of a
/// known answer (0.4% better on one training graph with two streams, slower to a proof on another). Cost of a node:
/// O(pairs) to choose, O(n²) for each clique that changed. Deterministic for a problem and the targets, seeds and node
/// limits of all its runs so far. Not thread-safe. The problem must have passed `check_problem` and must outlive the
/// search.
class GeneralSearch {
 public:
  explicit GeneralSearch(const Problem& problem);
  ~GeneralSearch();
  GeneralSearch(GeneralSearch&&) noexcept;
  GeneralSearch& operator=(GeneralSearch&&) noexcept;

  /// Searches for valid positions with a peak of at most `target`, visiting at most `node_limit` nodes; `stop` is
  /// polled now and then. Sets `positions` when solved, otherwise leaves it alone. Gives up at once on a problem with
  /// more than 2 million pairs of pieces that meet.
  SearchEnd run(Bytes target, std::uint64_t seed, std::uint64_t node_limit, const std::function<bool()>& stop,
                std::vector<Position>& positions);
  /// Nodes visited so far, by all runs.
  [[nodiscard]] std::uint64_t nodes() const;

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace stowage::pack
