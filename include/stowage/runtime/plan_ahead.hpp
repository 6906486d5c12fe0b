#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {

struct PlanAheadOptions {
  /// The pool to take pages from, of the same device; must outlive the allocator. Null: a private
  /// pool or, without virtual memory, a buffer.
  PhysicalPool* pool = nullptr;
  std::string solver = "auto";  ///< A name of `solvers()`.
  /// For planning one iteration. Absent: only the node budget limits the search.
  std::optional<std::chrono::milliseconds> time_limit = std::chrono::milliseconds(2000);
  std::optional<std::uint64_t> node_budget = {};  ///< For searching solvers, as in `SolveOptions`.
  /// How far ahead the plan is searched for a place to resume after a deviation, in allocations of
  /// the stream.
  std::uint32_t window = 256;
  /// An allocation that is smaller than the recorded one gets its place if its size is at least
  /// this fraction. Use 0 for work with varying shapes in a constant order, if the iteration with
  /// the largest shapes is recorded.
  double least_share = 0.75;
  /// The preferred number of events between a free and the reuse of its bytes by another stream, so
  /// that the other stream need not wait. Observed only where it costs almost no memory.
  std::uint32_t handover_distance = 1024;
  Checks checks = Checks::automatic;
};

/// The figures of planning ahead.
struct PlanAheadCounts {
  std::uint64_t plans = 0;     ///< Planned iterations.
  std::uint64_t refusals = 0;  ///< Plans that memory was not sufficient for.
  std::uint64_t planned = 0;   ///< Allocations in the current plan.
  Bytes plan_size;             ///< The size of the current plan: its peak.
  Bytes plan_bound;            ///< A proven lower bound of that size.
  double plan_seconds = 0;     ///< The time that making the last plan took.

  // Allocations since the start or the last `reset_peaks`, while there was a plan.
  std::uint64_t served = 0;  ///< Served from the plan.
  /// As recorded, but not in the plan because they outlive the iteration.
  std::uint64_t unplanned = 0;
  std::uint64_t deviated = 0;  ///< Of another size or in another order than recorded.
  /// As recorded, but the place is not free, or not yet free for this stream.
  std::uint64_t blocked = 0;
  /// Of the last two: those that still fit into free bytes of the range, with a plan of one stream.
  std::uint64_t sheltered = 0;
};

/// An allocator for repetitive work: records what one iteration allocates and frees, plans offsets
/// for it as for a graph, and serves later iterations from one range of exactly the planned size,
/// without searching. Allocations that differ from the record are placed in free parts of the range
/// or come from another allocator, the *fallback*, as does everything outside of iterations.
///
/// After STAlloc ("Enhancing memory efficiency in large-scale model training with spatio-temporal
/// planning", 2025), with a packer that proves a bound for its plan, and without relying on the
/// program: the plan is only a hint. The k-th allocation of a stream gets its planned place if its
/// size fits and no live allocation overlaps it. A place that is still in use by an allocation that
/// lives longer than recorded is skipped, and after a deviation the sequence is resumed.
///
/// Streams share bytes of the range if their recorded lifetimes do not overlap. When bytes pass
/// from one stream to another, the second waits for an event of the first, unless it is already
/// complete; the plan determines when to record it.
///
/// With a plan, an allocation or free costs O(1) (a planned place has fewer than three predecessors
/// on average) and makes no device call; the footprint is the plan's range plus the fallback's. In
/// an iteration that deviates, calls cost O(log n), and allocations without a planned place O(n)
/// for n live allocations, up to a thousand. Recording costs a hash table entry per allocation.
///
/// Not thread-safe, even if the fallback is. The device and the fallback must outlive it.
/// Everything must be freed before it is destroyed; the destructor waits for the streams that used
/// the range.
class STOWAGE_EXPORT PlanAheadAllocator final : public Allocator {
 public:
  /// Fails with `invalid` when the fallback or the pool belongs to another device.
  static Result<std::unique_ptr<PlanAheadAllocator>> make(Device& device, Allocator& fallback,
                                                          PlanAheadOptions options = {});
  ~PlanAheadAllocator() override;

  /// Begins an iteration of the repetitive work, and ends the previous one if necessary.
  void begin_iteration();
  /// After the first iteration: plans it, trims the fallback, and allocates the range. If planning
  /// or the allocation fails, the next iteration is recorded instead; until then everything comes
  /// from the fallback.
  void end_iteration();
  /// Frees the plan's range, after waiting for the streams that used it, and records the next
  /// iteration: for work that has changed permanently. Fails with `invalid` while something in the
  /// range is live, with the device's error if waiting fails; nothing has changed then.
  Status forget_plan();

  [[nodiscard]] DeviceId device() const override;
  [[nodiscard]] Bytes alignment() const override;
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  /// Trims the fallback. The plan's range stays: see `forget_plan`.
  Bytes trim() override;

  /// The plan's range and the fallback together. `largest_idle` is the fallback's, since the range
  /// is for recorded allocations.
  [[nodiscard]] AllocatorStats stats() const override;
  /// Also resets those of the fallback.
  void reset_peaks() override;
  /// The fallback's segments and, last, the plan's range, attributed to the first stream that it
  /// serves.
  [[nodiscard]] MemorySnapshot snapshot() const override;

  [[nodiscard]] PlanAheadCounts counts() const;

 private:
  class STOWAGE_HIDDEN State;
  explicit PlanAheadAllocator(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stowage
