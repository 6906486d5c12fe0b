#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/peaks.hpp"
#include "report/scene.hpp"
#include "stowage/report/explain.hpp"

/// What can be said of a plan without planning again.
namespace stowage::report {

/// An arena's story, and for the gains the items behind the holders of its fullest peak.
struct Told {
  ArenaStory story;
  std::vector<const PlacedItem*> holders;  ///< As in `story.peaks[story.fullest].holders`.
};

/// The arenas that count, largest first. `told` items refer to the scene.
[[nodiscard]] std::vector<Told> tell_arenas(const Scene& scene, const ExplainOptions& options);

/// The op that needs most by itself; nothing where no op touches paid memory.
[[nodiscard]] std::optional<LargestOp> largest_op(const Scene& scene);

/// Why the peak is what it is, in one sentence.
[[nodiscard]] std::string cause_of(const Explanation& explanation);

}  // namespace stowage::report
