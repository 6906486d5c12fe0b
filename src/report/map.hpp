#pragma once

#include <string>
#include <vector>

#include "report/peaks.hpp"
#include "report/scene.hpp"

/// Pictures of an arena, 80 columns wide, in ASCII.
namespace stowage::report {

/// The `top` largest holders at a peak have letters, A the largest; the rest is #.
[[nodiscard]] char letter_of(std::size_t rank);

/// The holders by offset at a step (for a set of items of several streams: all of them): a line of cells, and a ruler
/// of offsets.
[[nodiscard]] std::vector<std::string> map_at(const PlacedArena& arena, Bytes size, const BindingPeak& peak,
                                              std::size_t top);

/// Addresses upwards, steps to the right. Several steps share a column: it shows the fullest of them. The last line
/// marks the peak.
[[nodiscard]] std::vector<std::string> map_over_time(const Scene& scene, const PlacedArena& arena,
                                                     const BindingPeak& peak, std::size_t top);

}  // namespace stowage::report
