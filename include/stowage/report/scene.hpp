#pragma once

#include <memory>

#include "stowage/planner.hpp"

namespace stowage {

namespace report {
class Scene;
}  // namespace report

/// A planned graph as reports look at it: who holds which bytes when. Made in O(n log n); whoever
/// writes several reports of one plan makes it once. Refers to what it is made of, which must
/// outlive it. Copies share it. Thread-safe.
class STOWAGE_EXPORT PlanScene {
 public:
  /// Precondition: `planned` has an answer and is what `plan` returned.
  PlanScene(const Planned& planned);  // NOLINT: implicit by intent

  [[nodiscard]] const Planned& planned() const { return *planned_; }
  /// For the library's own use.
  [[nodiscard]] const report::Scene& scene() const { return *scene_; }

 private:
  const Planned* planned_;
  std::shared_ptr<const report::Scene> scene_;
};

}  // namespace stowage
