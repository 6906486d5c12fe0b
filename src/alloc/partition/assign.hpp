#pragma once

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// Assigns groups of ops to backends in four passes, as ggml_backend_sched does:
/// 1. Given: pins; homes of tensors that are written; ops that only one backend can run; the home of the largest weight
///    that is read.
/// 2. Expansion: an op takes the backend of the op before it, then of the op after it, where that is allowed. First
///    from every backend except the last, then from the last one too, so that the fallback gets only ops that no other
///    backend claims.
/// 3. Each remaining group goes to the allowed backend that can use most of its inputs; among equals, the first.
/// 4. A group moves to a backend of higher priority with the same buffer type, if that is allowed and can use all its
///    inputs.
///
/// O(accesses × backends).
[[nodiscard]] Assignment assign(const Model& model);

/// Moves ops between neighbouring splits. Neither the number of splits nor the copied bytes ever grow: moves are kept
/// only if one of them shrinks. The passes above cannot do that: they follow the order of ops and ignore the sizes of
/// what crosses.
///
/// From each boundary between two splits it walks into one and then into the other, moves op by op to the other side as
/// long as that is allowed, and keeps the best stopping point. Repeats sweeps until nothing changes, at most
/// `kMaxSweeps` times. Nothing is moved to the last backend, the fallback. Moving an op costs about the number of
/// tensors that its group touches (see TrafficCount); for tensors that are read through several views or written after
/// a read, it costs all their accesses. Nothing is moved if the traffic could exceed `kMaxBytes`.
void improve(const Model& model, Assignment& assignment);
inline constexpr int kMaxSweeps = 8;

}  // namespace stowage::partitioning
