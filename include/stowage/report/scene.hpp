#pragma once

#include <memory>

#include "stowage/planner.hpp"

namespace stowage {

namespace report {
class Scene;
}  // namespace report

/// A planned graph, prepared for reports: which bytes are in use when, and by what. Makes several
/// reports of one plan share that work, O(n log n). Refers to `planned`, which must outlive it.
/// Copies share their content. Thread-safe.
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
