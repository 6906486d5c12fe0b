#pragma once

#include <span>
#include <vector>

#include "graph/interface/relations.hpp"
#include "layout/interface/analysis.hpp"

/// The stages of `analyze` that decide what lies together, in order. Each returns a value. The stages of `liveness` run
/// in between.
namespace stowage::layout {

/// Which tensors lie at fixed distances from each other.
struct Classes {
  Sharing sharing;
  ByClass<AliasClass> list;
  std::vector<PlannedCopy> copies;  ///< Of results of bodies that cannot be at the address of their op's outputs.
};
[[nodiscard]] Classes form_classes(const Graph& graph);

[[nodiscard]] NoReuse find_no_reuse(const Graph& graph, const AnalysisOptions& options);
[[nodiscard]] ByClass<Demands> find_demands(const Graph& graph, const AnalysisOptions& options, const Sharing& sharing,
                                            const NoReuse& no_reuse);

/// By op: whether its fill is central. Empty if nothing is filled.
[[nodiscard]] std::vector<char> find_central_fills(const Graph& graph, const AnalysisOptions& options,
                                                   const Sharing& sharing, const Timeline& timeline,
                                                   const Accesses& accesses);

/// Where the memory of every class comes from.
struct Residences {
  ByClass<Residence> list;
  std::vector<TensorId> bound;  ///< Tensors that lie in the caller's buffers.
  /// Inputs that are small enough to be copied in together, and therefore lie next to each other.
  std::vector<TensorId> fused;
  std::vector<LayoutNote> notes;
};
/// What `find_residences` depends on.
struct ResidenceInput {
  const Graph& graph;
  const AnalysisOptions& options;
  const Classes& classes;
  const ByClass<Demands>& demands;
  const Accesses& accesses;
};
[[nodiscard]] Residences find_residences(const ResidenceInput& input);

/// Whether each class is needed before and after its accesses.
[[nodiscard]] ByClass<Sides> find_sides(const ResidenceInput& input, const ByClass<Residence>& residences,
                                        const std::vector<char>& central_fills);

/// Residence and life of every class. Forming storages changes them: a part of a constant that turns out not to fit in
/// it becomes an ordinary shared class.
struct Tenancy {
  ByClass<Residence> residences;
  ByClass<Life> lives;
};
/// Every resident class in a storage.
struct Storages {
  Tenancy tenancy;
  ByClass<ClassPosition> positions;
  std::vector<Storage> list;
  std::vector<StorageJoin> joins;
  bool has_alternatives = false;    ///< See `Layout`.
  std::vector<PlannedCopy> copies;  ///< Of tensors that cannot be in two places that ops need them in.
  std::vector<LayoutNote> notes;
  CopiedMembers refused;  ///< For which there is no room before the op. Then all else is void.
};
/// What `form_storages` depends on, apart from the tenancy.
struct StorageInput {
  const Graph& graph;
  const AnalysisOptions& options;
  const Sharing& sharing;
  const ByClass<AliasClass>& classes;
  const ByClass<Demands>& demands;
  const Timeline& timeline;
  const Accesses& accesses;
  const HappensBefore& order;
  std::span<const TensorId> fused;
  const std::vector<char>& central_fills;
  const std::vector<PlannedCopy>& copies_so_far;  ///< Those that forming classes needed.
  const CopiedMembers& copied;                    ///< Those that can be: see `find_copyable`.

  [[nodiscard]] const ClassPlace& place(TensorId id) const { return sharing.place(id); }
  [[nodiscard]] bool uses_pairs() const { return options.in_place && !options.no_reuse; }
};
/// Those that are members of their op's groups and do not lie in place through aliases; in the same order.
[[nodiscard]] CopiedMembers find_copyable(const Graph& graph, const Sharing& sharing, const CopiedMembers& wanted);

/// Forms the storages: groups and carried values at their fixed distances, a separate storage for every other class,
/// and the joins between them.
[[nodiscard]] Storages form_storages(const StorageInput& input, Tenancy tenancy);

/// By class: how many task ops write it.
[[nodiscard]] ByClass<int> count_writers(const Graph& graph, const Sharing& sharing);

}  // namespace stowage::layout
