#pragma once

#include <cstddef>
#include <vector>

#include "report/scene.hpp"

/// Where an arena is full.
namespace stowage::report {

/// Steps at which the live bytes do not change.
struct Level {
  Interval steps;
  Bytes live;
};

/// The live bytes of an arena at every step, as levels that follow each other, from 0 to the horizon. O(blocks log
/// blocks).
[[nodiscard]] std::vector<Level> live_levels(const PlacedArena& arena, Step horizon);

/// What an item holds at a peak.
struct Held {
  std::size_t item;  ///< Of the arena.
  Bytes bytes;
};

/// Steps that follow each other, at which all of an arena is needed, or nearly, by the same holders.
struct BindingPeak {
  Interval steps;
  Step at;  ///< The first of the fullest.
  Bytes live;
  std::vector<Held> held;  ///< At that step, largest first.
};

/// The runs of steps with live bytes of at least `floor` and the same holders, but for those that are no larger than
/// what the most live bytes are above `floor`; in their order. Nothing where `floor` is not positive.
[[nodiscard]] std::vector<BindingPeak> peaks_above(const Scene& scene, const PlacedArena& arena, Bytes floor);

/// The most bytes live at a step.
[[nodiscard]] Bytes most_live(const std::vector<Level>& levels);

/// What binds an arena: the steps within a share of the most live bytes. On several streams, where that is more, the
/// heaviest set of items that may be needed at the same time; then `at` and `steps` are of its largest item.
struct Binding {
  std::vector<BindingPeak> peaks;
  Bytes live;
  bool concurrent = false;
};
[[nodiscard]] Binding binding_of(const Scene& scene, const PlacedArena& arena, double within);

}  // namespace stowage::report
