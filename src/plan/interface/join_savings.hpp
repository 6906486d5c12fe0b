#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stowage/plan/problem.hpp"

/// How many bytes joins can save: what two joined items share while both live.
namespace stowage::plan {

/// The joins of two items, in any order. O(log joins).
[[nodiscard]] std::span<const Join> joins_between(const Problem& problem, std::size_t x, std::size_t y);

/// Bytes that two pieces share at some steps if their items lie as a join says.
struct SharedByJoin {
  Interval when;
  std::uint32_t earlier;  ///< The item that begins first; of two that begin together, the lower index.
  std::uint32_t later;
  std::uint32_t earlier_piece;
  std::uint32_t later_piece;
  ByteRange bytes;  ///< Relative to the earlier item.
};

/// All of them, in the order of the joins. Pieces count during their own steps, also with a stream order. O(joins ×
/// pieces²).
[[nodiscard]] std::vector<SharedByJoin> shared_by_joins(const Problem& problem);
/// Those that share bytes at the step.
[[nodiscard]] std::vector<SharedByJoin> shared_by_joins_at(const Problem& problem, Step step);

/// An upper limit of the bytes that these save together. Precondition: all of them contain a common step. Each byte of
/// the earlier pieces is taken once, and no piece takes more bytes than it has: a maximum flow, which is exact unless
/// several pieces compete for one. If a piece is the earlier one of some and the later one of others, just their sum.
/// O(1) each, except for pieces that occur more than once: for these at most `effort` looks at one of `shared`, which
/// is reduced by what was used. When it is used up, the limit is less tight.
[[nodiscard]] Bytes most_saved(const Problem& problem, std::span<const SharedByJoin> shared, std::size_t& effort);
/// With `kSavingsEffort`.
[[nodiscard]] Bytes most_saved(const Problem& problem, std::span<const SharedByJoin> shared);

/// What one bound may spend on savings: about half a second.
inline constexpr std::size_t kSavingsEffort = std::size_t{1} << 22;

}  // namespace stowage::plan
