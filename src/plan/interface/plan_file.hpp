#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan/plan.hpp"
#include "stowage/plan/plan_file.hpp"
#include "stowage/plan/program_cost.hpp"

/// The content of a plan file (`stowage.plan/1`) in its own numbering, and its conversion to and
/// from a `Plan`.
namespace stowage {

/// An entry of a plan file. Its ids index the lists of the body at path `body`. `name` is what the file calls the
/// tensor or op that the entry is about; empty: the file does not say.
template <class Entry>
struct InBody {
  Entry entry;
  BodyPath body = {};
  std::string name = {};

  friend bool operator==(const InBody&, const InBody&) = default;
};

/// The proof of an arena's bound (`BoundProof`) in a plan file.
struct ProofInFile {
  BoundProof::Argument argument = BoundProof::Argument::none;
  std::optional<InBody<OpId>> op = {};
  Bytes alignment{1};
  std::vector<InBody<TensorId>> tensors = {};
  std::vector<InBody<WorkspaceId>> workspaces = {};

  friend bool operator==(const ProofInFile&, const ProofInFile&) = default;
};

/// A step of a program in a plan file. Bodies and batches have their names there, and what else a step refers to is a
/// position: an op's in its body, the others' in the lists of the file.
struct StepInFile {
  ProgramStep::Kind kind = ProgramStep::Kind::op;
  std::uint32_t index = 0;
  /// Of records and waits; of a fill if it is not that of the op that the clear is before.
  std::optional<StreamId> stream = {};
  std::string batch = {};  ///< Empty: all.

  friend bool operator==(const StepInFile&, const StepInFile&) = default;
};

/// A plan file numbers tensors and ops body by body. `resolve` converts it to the ids of a graph,
/// `localise` converts back.
struct PlanFile {
  std::string graph;  ///< The graph's name.
  Padding padding = Padding::own;
  std::vector<Arena> arenas;             ///< Without proofs.
  std::vector<ProofInFile> proofs = {};  ///< By arena, up to the last one that has a proof.
  std::vector<InBody<Placement>> placements;
  std::vector<InBody<WorkspacePlacement>> workspaces;
  std::vector<InBody<Clear>> clears = {};
  std::vector<InBody<Binding>> bindings = {};  ///< Of the root graph, as are edges.
  /// Before the op after the last one of a body means: at the end of that body.
  std::vector<InBody<Copy>> copies = {};
  std::vector<Edge> edges = {};
  std::optional<std::vector<InBody<StepInFile>>> program = {};
  std::vector<InBody<Note>> notes;

  /// As in `Plan`.
  [[nodiscard]] Bytes peak() const;
  [[nodiscard]] Bytes lower_bound() const;
  [[nodiscard]] bool proven_optimal() const { return peak() == lower_bound(); }
  friend bool operator==(const PlanFile&, const PlanFile&) = default;
};

/// A plan file converted to the ids of a graph.
struct ResolvedPlan {
  Plan plan;  ///< Without the entries listed in `unknown`.
  /// A sentence for each entry that names a body, tensor, op, workspace or batch that the graph does not have, or
  /// another entry that is not there.
  std::vector<std::string> unknown = {};
  /// One sentence if entries have other names than the graph gives their ids: the plan is for
  /// another graph. Empty: none has.
  std::string misnamed = {};
};

/// Cannot fail; does not check whether the plan is correct (`verify` does). O(entries ×
/// log(bodies)). Thread-safe, as is the next.
[[nodiscard]] ResolvedPlan resolve(const Graph& graph, const PlanFile& file);

/// The content of the plan's file. Precondition: the graph has every tensor and op that the plan
/// names.
[[nodiscard]] PlanFile localise(const Graph& graph, const Plan& plan);

/// The cost of the file's program; nothing if it has none. A fill or copy of an entry that is not there costs no bytes.
[[nodiscard]] std::optional<ProgramCost> cost_of(const PlanFile& file);

/// As `parse_plan_file`, by value.
Result<PlanFile> parse_plan(std::string_view text, const std::string& file);
/// Writes a file that reads back as an equal plan, one entry per line. Thread-safe.
[[nodiscard]] std::string plan_to_json(const PlanFile& plan);

}  // namespace stowage
