#pragma once

#include <span>
#include <vector>

#include "graph/interface/relations.hpp"
#include "layout/interface/analysis.hpp"

/// The stages of `analyze` that decide what lies together, in order. Each returns a value; `liveness` answers in
/// between.
namespace stowage::layout {

/// Which tensors lie at fixed distances.
struct Classes {
  Sharing sharing;
  ByClass<AliasClass> list;
  std::vector<PlannedCopy> copies;  ///< Of results of bodies that cannot lie where their op's outputs are.
};
[[nodiscard]] Classes form_classes(const Graph& graph);

[[nodiscard]] NoReuse find_no_reuse(const Graph& graph, const AnalysisOptions& options);
[[nodiscard]] ByClass<Demands> find_demands(const Graph& graph, const AnalysisOptions& options, const Sharing& sharing,
                                            const NoReuse& no_reuse);

/// By op: whether its fill happens before everything. Empty where nothing is filled.
[[nodiscard]] std::vector<char> find_central_fills(const Graph& graph, const AnalysisOptions& options,
                                                   const Sharing& sharing, const Timeline& timeline,
                                                   const Accesses& accesses);

/// Where the memory of every class comes from.
struct Residences {
  ByClass<Residence> list;
  std::vector<TensorId> bound;  ///< Tensors that lie in the caller's buffers.
  std::vector<TensorId>
      fused;  ///< Inputs that are small enough to be copied in together, and lie next to each other for that.
  std::vector<LayoutNote> notes;
};
/// What residences follow from.
struct ResidenceInput {
  const Graph& graph;
  const AnalysisOptions& options;
  const Classes& classes;
  const ByClass<Demands>& demands;
  const Accesses& accesses;
};
[[nodiscard]] Residences find_residences(const ResidenceInput& input);

/// What is known about each class beside its accesses.
[[nodiscard]] ByClass<Sides> find_sides(const ResidenceInput& input, const ByClass<Residence>& residences,
                                        const std::vector<char>& central_fills);

/// Residence and life of every class. Forming storages changes them: a part of a constant that cannot lie in it after
/// all lives like any other class.
struct Tenancy {
  ByClass<Residence> residences;
  ByClass<Life> lives;
};
/// Every resident class in a storage.
struct Storages {
  Tenancy tenancy;
  ByClass<ClassPosition> positions;
  std::vector<Storage> list;
  std::vector<PlannedCopy> copies;  ///< Of what cannot lie where two ops want it.
  std::vector<LayoutNote> notes;
};
/// What storages follow from, beside the tenancy.
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

  [[nodiscard]] const ClassPlace& place(TensorId id) const { return sharing.place(id); }
  [[nodiscard]] bool uses_pairs() const { return options.in_place && !options.no_reuse; }
};
/// Groups and what loops carry at their distances, outputs behind the input that they take over from in place, every
/// other class on its own.
[[nodiscard]] Storages form_storages(const StorageInput& input, Tenancy tenancy);

/// By class: how many tasks write it.
[[nodiscard]] ByClass<int> count_writers(const Graph& graph, const Sharing& sharing);

}  // namespace stowage::layout
