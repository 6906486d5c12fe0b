#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "report/scene.hpp"

/// The steps at which an arena is full.
namespace stowage::report {

/// Consecutive steps with equal live bytes.
struct Level {
  Interval steps;
  Bytes live;
};

/// The live bytes of an arena at every step, as levels that follow each other, from 0 to the horizon. O(blocks log
/// blocks).
[[nodiscard]] std::vector<Level> live_levels(const PlacedArena& arena, Step horizon);

/// What an item holds at a peak.
struct Held {
  std::size_t item;  ///< Index in the arena's items.
  Bytes bytes;
};

/// Consecutive steps at which an arena is full, or nearly full, with the same holders.
struct BindingPeak {
  Interval steps;
  Step at;  ///< The first of the fullest steps.
  Bytes live;
  std::vector<Held> held;  ///< At that step, largest first.
};

/// The runs of steps with at least `floor` live bytes and the same holders, in order. Holders no larger than the most
/// live bytes minus `floor` may differ within a run. Empty if `floor` is not positive. O(blocks log blocks) and what is
/// held at all peaks together, of which there is a limit of a million: beyond it, peaks that are less high hold
/// nothing.
[[nodiscard]] std::vector<BindingPeak> peaks_above(const Scene& scene, const PlacedArena& arena, Bytes floor);

/// The most bytes live at a step.
[[nodiscard]] Bytes most_live(const std::vector<Level>& levels);

/// What binds an arena: the steps within a share of the most live bytes. On several streams, if it is heavier, the
/// heaviest set of items that may be needed at the same time; then `at` and `steps` are those of its largest item.
struct Binding {
  std::vector<BindingPeak> peaks;
  Bytes live;
  bool concurrent = false;
};
/// The search for that set ends when `stop` returns true; then it is the heaviest found so far, if any.
[[nodiscard]] Binding binding_of(const Scene& scene, const PlacedArena& arena, double within,
                                 const std::function<bool()>& stop);

}  // namespace stowage::report
