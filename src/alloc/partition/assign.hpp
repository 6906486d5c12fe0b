#pragma once

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// Who runs what, by four passes over the groups of ops, in the manner of ggml_backend_sched:
///   1. the given: pins; homes of what is written; ops that only one backend can run; homes of the largest weight that
///   is read;
///   2. expansion: an op takes the backend of the op before it, then of the op behind it, where that is allowed; first
///   from every
///      backend but the last, then from that one too, so that the fallback gets only what nobody else claims;
///   3. the rest goes to the allowed backend that can use most of its inputs, among equals the first;
///   4. what could run on a backend of higher priority with the same buffer type, and use all its inputs there, does.
/// O(accesses × backends).
[[nodiscard]] Assignment assign(const Model& model);

/// Moves ops between neighbouring splits. Neither the number of splits nor the copied bytes ever grow: a move is kept
/// only if one of them shrinks. That is what the passes above cannot see: they follow the order of ops, not the sizes
/// of what crosses.
///
/// From each boundary between two splits it walks into one and then into the other, gives op by op to the other side as
/// long as that is allowed, and keeps the best of the ways to stop. Sweeps until nothing changes, at most `kMaxSweeps`.
/// What runs elsewhere is never moved to the last backend, the fallback. An op costs about the number of tensors that
/// its group touches (see TrafficCount), and all accesses of those that are read through several views or written
/// behind a read. Nothing is moved where the traffic could exceed `kMaxBytes`.
void improve(const Model& model, Assignment& assignment);
inline constexpr int kMaxSweeps = 8;

}  // namespace stowage::partitioning
