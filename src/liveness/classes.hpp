#pragma once

#include "stowage/liveness.hpp"

/// The steps of `analyze`, in order. Each fills in its part of a `Liveness`.
namespace stowage::liveness {

/// `classes` and `places`: which tensors lie at fixed distances, and each class's size, alignment, memory and flags.
void form_classes(const Graph& graph, Liveness& result);

/// `accesses` of every class.
void collect_accesses(const Graph& graph, Liveness& result);

/// `residence`, `whole_run`, `never_over` and `life` of every class. Precondition: accesses are there.
void find_lives(const Graph& graph, const LivenessOptions& options, Liveness& result);

/// `storages`: every resident class in a storage, in-place ones behind the class they take over from.
void form_storages(const Graph& graph, const LivenessOptions& options, Liveness& result);

}  // namespace stowage::liveness
