#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/plan.hpp"

namespace stowage::testing {

struct RandomProblemOptions {
  std::size_t max_items = 6;
  bool pieces = true;   ///< Items of several pieces.
  bool pins = true;     ///< Some items pinned, sometimes in contradiction.
  bool regions = true;  ///< Several regions: limited, unpaid, with items that may not go everywhere.
  bool streams = true;  ///< Sometimes an order of several streams, from random ops with random edges.
  bool joins = true;    ///< Sometimes items that may lie in one place.
  bool apart = true;    ///< Sometimes items that must never share bytes.
};

/// For problems of one piece per item, one region, and no further rules.
[[nodiscard]] constexpr RandomProblemOptions plain_options(std::size_t max_items) {
  return {.max_items = max_items,
          .pieces = false,
          .pins = false,
          .regions = false,
          .streams = false,
          .joins = false,
          .apart = false};
}

/// A small problem that passes `check_problem`: sizes up to 8, alignments up to 4. Equal seeds and options give equal
/// problems.
[[nodiscard]] Problem random_problem(std::uint64_t seed, const RandomProblemOptions& options = {});

/// A rectangle of `steps` by `bytes`, cut at random `cuts` times from side to side: no byte is ever free, and the
/// optimum is `bytes`. Some items get the alignment of their offset.
struct CutRectangle {
  std::int64_t steps = 8;
  std::int64_t bytes = 12;
  int cuts = 14;
};
[[nodiscard]] Problem cut_rectangle(std::uint64_t seed, const CutRectangle& whole = {});

}  // namespace stowage::testing
