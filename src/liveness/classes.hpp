#pragma once

#include <cstddef>

#include "stowage/liveness.hpp"

/// The steps of `analyze`, in order. Each fills in its part of a `Liveness`.
namespace stowage::liveness {

/// Half-open.
struct IndexRange {
  std::size_t begin;
  std::size_t end;
};

/// `classes` and `places`: which tensors lie at fixed distances, and each class's size, alignment, memory and flags. A body's
/// result is where its op's output is, or else a copy into that is noted in `copies`.
void form_classes(const Graph& graph, Liveness& result);

/// `timeline` and `horizon`.
void lay_out_in_time(const Graph& graph, Liveness& result);

/// `accesses` of every class.
void collect_accesses(const Graph& graph, Liveness& result);

/// What is special about each class but its life and place: `whole_run`, `filled`, `fixed`, `grouped`, `residence`; `bound` and
/// `central_fills`.
void find_residences(const Graph& graph, const LivenessOptions& options, Liveness& result);

/// `from_start`, `never_over`, `life` and `lives` of every class. Precondition: accesses are there.
void find_lives(const Graph& graph, const LivenessOptions& options, Liveness& result);

/// Whether some run goes through both steps.
[[nodiscard]] bool compatible(const Timeline& timeline, Step a, Step b);

/// A class that could not stay with a constant or variable after all lives like any other.
void make_shared(Liveness& result, ClassId id);

/// `edges` of prefetch rings, and `order` with them.
void find_order(const Graph& graph, Liveness& result);

/// `storages`: every resident class in a storage: groups and what loops carry at their distances, in-place ones behind the class
/// they take over from. What cannot lie where two ops want it is copied: `copies`.
void form_storages(const Graph& graph, const LivenessOptions& options, Liveness& result);

}  // namespace stowage::liveness
