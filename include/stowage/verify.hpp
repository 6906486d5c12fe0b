#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan/plan.hpp"
#include "stowage/plan/plan_file.hpp"

/// An independent judge of plans. It reads a Graph and a Plan, derives from the graph alone what
/// must hold, and says what does not. It shares no code with liveness, lower or pack, so that a bug
/// there cannot hide itself here.
namespace stowage {

/// Which rule a finding is about.
enum class Rule : std::uint8_t {
  reference,  ///< The plan names a tensor, op, workspace, body, arena or region that does not
              ///< exist, or the same one twice.
  missing,  ///< A tensor or workspace that needs memory has none, or one that has none of ours has
            ///< some.
  size,     ///< A placement's size is not the graph's, or an arena's size is not the sum of its
            ///< regions.
  bounds,   ///< Something ends outside its region, or a region exceeds its memory's or the options'
            ///< limit without need.
  alignment,  ///< An offset is not a multiple of the tensor's alignment.
  arena,      ///< Something lies in an arena of another memory or of the wrong kind, or in a buffer
              ///< where it is not welcome.
  layout,     ///< A view, an alias, or what a body is given or a loop leaves, is not where its base
              ///< says.
  overlap,    ///< Two values that are needed at the same time share bytes.
  claim,      ///< The plan claims a bound above its size, or optimality that its own bound does not
              ///< support.
  group,      ///< A member of a contiguous group is not where the group says.
  fill,       ///< What must hold a value when its op starts does not.
  copy,  ///< A copy that is needed is missing, or one is there that nothing needs or that cannot do
         ///< its work.
  binding,  ///< A tensor is bound to a caller's buffer against a rule of zero copy.
  edge,     ///< An edge of the plan orders nothing.
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(Rule rule);

/// One thing that is wrong, in a sentence that names tensors, ops, offsets and steps.
struct Finding {
  Rule rule;
  std::string message;

  friend bool operator==(const Finding&, const Finding&) = default;
};

struct VerifyOptions {
  std::size_t max_findings = 100;  ///< Stop looking after so many.
  bool keep_inputs = false;        ///< The caller reads inputs after the run: they live to the end.
  AddressBase base = AddressBase::fixed;  ///< Refreshable: what ops of fixed address touch must lie
                                          ///< in a fixed arena.
  std::optional<Bytes> region_limit = {};  ///< Of every region, besides what its memory says.
};

/// Everything that is wrong with `plan` for `graph`; empty means that running the graph with it is
/// safe. Never fails: a plan however broken is described by findings. O((accesses + placements) ×
/// (log + streams)) for each batch; what is inside loops counts once more for each. Thread-safe.
[[nodiscard]] STOWAGE_EXPORT std::vector<Finding> verify(const Graph& graph, const Plan& plan,
                                                         const VerifyOptions& options = {});
/// The same for a plan file: what it names that the graph does not have is found first
/// (`Rule::reference`).
[[nodiscard]] STOWAGE_EXPORT std::vector<Finding> verify(const Graph& graph, const PlanFile& file,
                                                         const VerifyOptions& options = {});

}  // namespace stowage
