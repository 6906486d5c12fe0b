#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stowage/plan.hpp"

/// Packing problems that need no data files. The same arguments always give the same problem, on every platform.
namespace stowage::bench {

/// One item begins per step, and overlaps `meetings` later ones on average; sizes span three orders of magnitude.
[[nodiscard]] Problem make_random(std::size_t items, std::size_t meetings);

/// Similar to allocation traces: most items are small and die at once, some are huge (Pareto sizes), one in fifty lives
/// for up to a quarter of the time. One item begins per step.
[[nodiscard]] Problem make_heavy_tail(std::size_t items);

/// Lives and sizes of every order of magnitude, equally often:
/// of a hundred items, one or two are live at the same time.
[[nodiscard]] Problem make_dense(std::size_t items);

/// A rectangle of `kTightHeight` bytes that `items` fill without gaps, made by repeatedly cutting it from side to side.
/// The optimum is its height, which is also the bound, and every step is full. Precondition: 0 < items < 1,000,000.
[[nodiscard]] Problem make_tight(std::size_t items, std::uint64_t seed = 0);
inline constexpr Bytes kTightHeight{16 << 20};

/// A problem that misleads some heuristics although its bound can be reached.
struct Adversary {
  std::string name;
  Problem problem;
  std::vector<std::string> against;  ///< The solvers whose peak is clearly above the bound.
};

/// One family per way of choosing the next item; every solver that does not search is misled by one of them. `size`
/// scales the number of items.
[[nodiscard]] std::vector<Adversary> make_adversaries(std::size_t size);

}  // namespace stowage::bench
