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

/// An independent checker of plans. It derives from the graph alone what must hold, and reports
/// what does not. It shares no code with the planner, so that a bug there cannot hide itself here.
namespace stowage {

/// The rule that a finding is about.
enum class Rule : std::uint8_t {
  /// The plan names a tensor, op, workspace, body, arena or region that does not exist, or the same
  /// one twice.
  reference,
  /// A tensor or workspace that needs memory is not placed, or one that must not be placed is.
  missing,
  /// A placement's size differs from the graph's, or an arena's size is not the sum of its regions.
  size,
  /// Something ends outside its region, or a region exceeds the limit of its memory or the options
  /// without need.
  bounds,
  alignment,  ///< An offset is not a multiple of the tensor's alignment.
  /// The padding of something that is live, up to its alignment, is shared, or lies outside its
  /// region.
  padding,
  /// Something lies in an arena of another memory or of the wrong kind, or in a caller's buffer
  /// that it may not use.
  arena,
  /// A view, an alias, a body's input or a loop's result does not lie where its base requires.
  layout,
  /// Two values that are live at the same time share bytes; or they share them because a packed op
  /// copies nothing, and a write to one of them changes the other, which is still needed.
  overlap,
  /// The plan claims a bound above its size, a bound that neither the bytes needed at some step nor
  /// its proof supports, a proof that does not hold, or optimality that its bound does not support.
  claim,
  /// A member of a contiguous group is misplaced, or a group begins elsewhere than those of the
  /// other batches, against the options.
  group,
  /// Memory that must hold a value when its op starts does not; or a clear is needed by nothing: in
  /// no batch does an op that needs filled memory find a single byte as the clear left it.
  fill,
  /// A required copy is missing, or a copy is not needed or cannot work.
  copy,
  binding,  ///< A tensor is bound to a caller's buffer against the rules of zero copy.
  /// An edge of the plan orders nothing: not both ops have a task, the two never run together, the
  /// graph alone orders them in every batch in which both run, or the plan lists the edge twice.
  edge,
  apart,  ///< Tensors that the graph keeps apart share bytes, or padding that is theirs.
  /// The program lacks a step, or has one too many, twice, out of turn, on another stream, or in
  /// another body. Like `wait`, judged only if nothing else is wrong with the plan.
  program,
  /// The streams and events of the program do not put something in the order in which it must be,
  /// or
  /// a wait or record could be left out without changing that.
  wait,
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(Rule rule);

/// One error in a plan. The message names tensors, ops, offsets and steps.
struct Finding {
  Rule rule;
  std::string message;

  friend bool operator==(const Finding&, const Finding&) = default;
};

struct VerifyOptions {
  std::size_t max_findings = 100;  ///< Stop after this many.
  bool keep_inputs = false;        ///< Inputs are live to the end of the run.
  /// If refreshable, everything that ops of fixed address access must lie in a fixed arena, and
  /// nothing else may, except what is tied to it.
  AddressBase base = AddressBase::fixed;
  /// The largest size of a region, in addition to its memory's limit.
  std::optional<Bytes> region_limit = {};
  /// If same, the first contiguous groups of all batches begin at one place, the second ones at
  /// another, and so on: groups of inputs and of outputs, padded and packed, and of each memory
  /// count separately. A group may begin elsewhere if a note of the plan says that it cannot.
  BatchStart batch_start = BatchStart::free;
  /// Whose the padding is; absent: as the plan says.
  std::optional<Padding> padding = {};
  bool program = true;  ///< Judge the program, if the plan has one.
};

/// All errors of `plan` as a plan for `graph`. Empty: running the graph with it is safe. Cannot
/// fail, however broken the plan is. O((accesses + placements) × (log + streams)) per batch; the
/// content of a loop counts once more for each enclosing loop. Thread-safe.
[[nodiscard]] STOWAGE_EXPORT std::vector<Finding> verify(const Graph& graph, const Plan& plan,
                                                         const VerifyOptions& options = {});
/// The same for a plan file. References to something that the graph does not have come first
/// (`Rule::reference`).
[[nodiscard]] STOWAGE_EXPORT std::vector<Finding> verify(const Graph& graph, const PlanFile& file,
                                                         const VerifyOptions& options = {});

/// A lower bound of a plan that rests on what `verify` cannot check: an exhausted search, or what
/// planning was told and decided (`BoundProof`). Not an error.
struct UncheckedClaim {
  ArenaId arena;
  Bytes lower_bound;    ///< As the plan claims.
  Bytes checked;        ///< What every plan needs at some step, and so is certain.
  std::string message;  ///< A sentence that names the arena and says what the bound rests on.

  friend bool operator==(const UncheckedClaim&, const UncheckedClaim&) = default;
};

/// The bounds of `plan` that `verify` does not check, by arena. Meant for a plan without findings.
/// Cannot fail. Thread-safe. Costs less than `verify`.
[[nodiscard]] STOWAGE_EXPORT std::vector<UncheckedClaim> unchecked_claims(
    const Graph& graph, const Plan& plan, const VerifyOptions& options = {});
[[nodiscard]] STOWAGE_EXPORT std::vector<UncheckedClaim> unchecked_claims(
    const Graph& graph, const PlanFile& file, const VerifyOptions& options = {});

/// `stowage.findings/1` (docs/formats.md), one object on one line: what `stowage verify --json`
/// prints.
[[nodiscard]] STOWAGE_EXPORT std::string findings_to_json(
    const std::vector<Finding>& findings, const std::vector<UncheckedClaim>& unchecked = {});

}  // namespace stowage
