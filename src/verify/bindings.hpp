#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/findings.hpp"
#include "verify/values.hpp"

namespace stowage::verification {

/// Which values lie in callers' buffers, and which of these buffers host other values.
class Bindings {
 public:
  struct Bound {
    TensorId tensor;
    Bytes alignment;
    std::optional<ArenaId> arena = {};  ///< Set if the buffer hosts other values.
  };

  /// Checks every binding against the rules of zero copy, and every arena of kind user against its binding. A binding
  /// that breaks a rule is reported but still used. A binding of a tensor that does not exist, or a second binding of a
  /// value, is reported and ignored.
  Bindings(const Graph& graph, const Plan& plan, const Values& values, Findings& findings);

  /// Null if the value is not bound.
  [[nodiscard]] const Bound* of(ValueId value) const {
    const auto found = bound_.find(value.index());
    return found == bound_.end() ? nullptr : &found->second;
  }
  /// The binding whose buffer the arena is; null if there is none.
  [[nodiscard]] const Bound* host(ArenaId arena) const;
  [[nodiscard]] const std::unordered_map<std::size_t, Bound>& all() const { return bound_; }

 private:
  void read_arenas(const Graph& graph, const Plan& plan, const Values& values, Findings& findings);

  std::unordered_map<std::size_t, Bound> bound_;        ///< By value.
  std::unordered_map<std::size_t, std::size_t> hosts_;  ///< By arena: the value.
};

}  // namespace stowage::verification
