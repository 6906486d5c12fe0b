#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/explanation.hpp"
#include "report/peaks.hpp"
#include "report/scene.hpp"

/// The parts of an explanation that need no re-plans.
namespace stowage::report {

/// An arena's story, and the items of the holders at its fullest peak, from which gains are computed.
struct Told {
  ArenaStory story;
  std::vector<const PlacedItem*> holders;  ///< As in `story.peaks[story.fullest].holders`.
};

/// The arenas that count towards the peak, largest first. The items refer to the scene. `stop` as in `binding_of`.
[[nodiscard]] std::vector<Told> tell_arenas(const Scene& scene, const ExplainOptions& options,
                                            const std::function<bool()>& stop);

/// The op that alone needs the most memory; none if no op accesses paid memory.
[[nodiscard]] std::optional<LargestOp> largest_op(const Scene& scene);

/// Why the peak is what it is, in one sentence.
[[nodiscard]] std::string cause_of(const Explanation& explanation);

}  // namespace stowage::report
