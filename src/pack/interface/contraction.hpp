#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// A problem with joins whose items were put together where joins allow it, so that no join is left. Most problems have
/// an optimal answer of this form, and the quickest solvers apply to them again.
struct Contraction {
  Problem problem;                     ///< Without joins.
  std::vector<std::uint32_t> item_of;  ///< By item of the original: the item that it is in.
  std::vector<Bytes> offset;           ///< By item of the original: where it begins in that item.

  /// The answer to the original problem; empty for no positions.
  [[nodiscard]] std::vector<Position> expand(std::span<const Position> positions) const;
};

/// An earlier answer, or a part of one.
struct KnownPositions {
  /// By item; empty: none. Joins that hold there are taken first, and items whose known positions contradict a join are
  /// not put together.
  std::span<const std::optional<Position>> positions = {};
  /// Ascending: items that will not be moved. Every join that holds between two of them is taken, also where items
  /// that were to be moved could not be put together. With a stream order, bytes that several of them use are then
  /// treated as one use, which rarely conflicts with a third item that none of them conflicts with.
  std::span<const std::size_t> kept = {};
};

/// Takes at each step the joins that save the most bytes there: where every item is joined with at most one other at a
/// step, a matching of the largest total size. With one stream, each join that is taken lowers the live bytes at its
/// steps and raises them nowhere, because what a smaller item leaves free is free from the next step on. So no other
/// choice lowers the bound more. (It can still leave worse gaps; a search has to find that.) With a stream order, where
/// one item would keep all bytes of the other, only items of equal size are put together.
///
/// O(joins × (log + items in one place)) except for items with many pieces. Precondition: `check_problem` passed.
[[nodiscard]] Contraction contract(const Problem& problem, const KnownPositions& known = {});

/// Takes exactly the joins that hold in an answer. For telling what lies together, not for solving: the items need not
/// be aligned wherever else they could lie.
[[nodiscard]] Contraction contract_as(const Problem& problem, std::span<const Position> positions);

}  // namespace stowage::pack
