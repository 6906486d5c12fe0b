#pragma once

#include <span>
#include <vector>

#include "liveness/interface/accesses.hpp"
#include "liveness/interface/sharing.hpp"
#include "liveness/interface/timeline.hpp"

/// When memory is needed.
namespace stowage {

/// Whether a value is needed before and after the steps that access it.
struct Sides {
  bool before = false;  ///< Its bytes are reserved before the first step, for the caller's value or a fill.
  bool after = false;   ///< It is read after the last step.
};

/// When a class is needed.
struct Life {
  Interval span;                ///< From its first step to its last, on the timeline.
  std::vector<Interval> parts;  ///< `span` without its holes, ascending; may be adjacent. Empty: there are no holes.
  Sides sides = {};

  /// The steps at which it is needed.
  [[nodiscard]] std::span<const Interval> needed() const {
    return parts.empty() ? std::span(&span, 1) : std::span(parts);
  }
};

/// The life of a value that is accessed at these steps (ascending).
[[nodiscard]] Life life_of(const Timeline& timeline, std::span<const Step> accesses, Sides sides);

/// The lives of all classes. A class that a loop carries has a hole between its last read in the body and the step that
/// writes the next value.
[[nodiscard]] ByClass<Life> find_lives(const Graph& graph, const Sharing& sharing, const Timeline& timeline,
                                       const Accesses& accesses, const ByClass<Sides>& sides);

/// The steps at which a value is needed that is accessed during `touched` (ascending).
[[nodiscard]] std::vector<Interval> lives_between(const Timeline& timeline, std::span<const Interval> touched,
                                                  Sides sides);

/// Whether some run goes through both steps.
[[nodiscard]] bool compatible(const Timeline& timeline, Step a, Step b);

}  // namespace stowage
