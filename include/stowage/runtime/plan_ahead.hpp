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
  /// Where pages come from, of the same device; it must outlive the allocator. Null: a pool of its
  /// own where the device has virtual memory, a buffer where it has none.
  PhysicalPool* pool = nullptr;
  std::string solver = "auto";  ///< A name of `solvers()`.
  /// For planning one iteration; the best answer until then. Absent: the node budget alone ends a
  /// search.
  std::optional<std::chrono::milliseconds> time_limit = std::chrono::milliseconds(2000);
  std::optional<std::uint64_t> node_budget = {};  ///< Of searching solvers, as in `SolveOptions`.
  /// How far ahead the plan is searched for the place to go on after a deviation, in allocations of
  /// the stream.
  std::uint32_t window = 256;
  /// An allocation that comes where a larger one was recorded gets the larger one's place if it is
  /// at least this share of it. 0 for work whose shapes vary while its order stays, when the
  /// iteration with the largest shapes is the recorded one.
  double least_share = 0.75;
  /// Between a free and the use of the bytes by another stream shall lie that many events where
  /// that costs next to nothing, so that the other stream need not wait.
  std::uint32_t handover_distance = 1024;
  Checks checks = Checks::automatic;
};

/// What planning ahead came to.
struct PlanAheadCounts {
  std::uint64_t plans = 0;     ///< Iterations that were planned.
  std::uint64_t refusals = 0;  ///< Plans for which there was no memory.
  std::uint64_t planned = 0;   ///< Allocations of the present plan.
  Bytes plan_size;             ///< What the present plan needs: the peak of its positions.
  Bytes plan_bound;            ///< Proven: no plan needs less.
  double plan_seconds = 0;     ///< What the last plan took to make.

  // Allocations since the start or the last `reset_peaks`, while there was a plan.
  std::uint64_t served = 0;  ///< From the plan.
  std::uint64_t unplanned =
      0;  ///< As recorded, but outliving the iteration: never part of the plan.
  std::uint64_t deviated = 0;  ///< Of another size, or in another order than recorded.
  std::uint64_t blocked =
      0;  ///< As recorded, but the place is not free, or not yet for this stream.
  std::uint64_t sheltered =
      0;  ///< Of the last two: in free bytes of the range all the same, with a plan of one stream.
};

/// Memory for work that repeats itself: records what one iteration allocates and frees, plans
/// offsets for it as if it were a graph, and serves the next iterations from one range of just the
/// planned size, without search. Whatever differs from the record lies where the range happens to
/// be free, or else comes from another allocator, the *fallback*; so does everything outside of
/// iterations.
///
/// After STAlloc ("Enhancing memory efficiency in large-scale model training with spatio-temporal
/// planning", 2025), with a packer that proves how good its plan is, and without trust in the
/// program: the plan only says where to look. The k-th allocation of a stream gets its planned
/// place when its size fits and no live allocation has any of the bytes; a place that is still held
/// by somebody who lives longer than recorded is left out, and the sequence is found again after a
/// deviation.
///
/// Several streams share the bytes of the range when their lives in the record do not meet. Where
/// the bytes go from one stream to another, the second waits for an event of the first, unless it
/// is complete already; the plan says in advance when to record it.
///
/// With a plan, an allocation or free costs O(1) (a planned place has fewer than three predecessors
/// on average), touches no device, and the footprint is the plan's range and what the fallback
/// holds. In an iteration that differs it costs O(log n), and what has no place of its own O(n) for
/// n live allocations, up to a thousand. Recording costs a hash table entry per allocation.
///
/// Thread safety: one thread at a time, whatever the fallback's. The device and the fallback must
/// outlive it, and everything allocated must be back before it goes; then it waits for the streams
/// that used the range.
class STOWAGE_EXPORT PlanAheadAllocator final : public Allocator {
 public:
  /// Fails with `invalid` when the fallback's or the pool's device is another one.
  static Result<std::unique_ptr<PlanAheadAllocator>> make(Device& device, Allocator& fallback,
                                                          PlanAheadOptions options = {});
  ~PlanAheadAllocator() override;

  /// From here to `end_iteration` is one round of what repeats itself. Ends the one before, if
  /// nobody did.
  void begin_iteration();
  /// After the first iteration: plans it, has the fallback trim itself, and takes the memory. No
  /// failure is an error: when planning fails or there is no memory, the next iteration is recorded
  /// in turn and everything comes from the fallback until then.
  void end_iteration();
  /// Returns the plan's range once nothing of it is live, waiting for the streams that used it, and
  /// records the next iteration: for work that has changed for good. Fails with `invalid` while
  /// something is live, with the device's error when waiting fails; nothing has changed then.
  Status forget_plan();

  [[nodiscard]] DeviceId device() const override;
  [[nodiscard]] Bytes alignment() const override;
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  /// Of the fallback. The plan's range stays: see `forget_plan`.
  Bytes trim() override;

  /// Of the plan's range and the fallback together. The largest idle is the fallback's: the range
  /// is for what was recorded.
  [[nodiscard]] AllocatorStats stats() const override;
  /// Resets the fallback's too.
  void reset_peaks() override;
  /// The fallback's segments and, last, the plan's range, as of the first stream that it serves.
  [[nodiscard]] MemorySnapshot snapshot() const override;

  [[nodiscard]] PlanAheadCounts counts() const;

 private:
  class STOWAGE_HIDDEN State;
  explicit PlanAheadAllocator(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stowage
