#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/plan_ahead/foreign_uses.hpp"
#include "runtime/plan_ahead/guests.hpp"
#include "runtime/plan_ahead/iteration_plan.hpp"
#include "runtime/plan_ahead/place_table.hpp"
#include "runtime/plan_ahead/plan_cursor.hpp"
#include "runtime/plan_ahead/stream_ordering.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/allocator.hpp"

namespace stowage::runtime {

/// Serves iterations from a plan: bookkeeping over a range that somebody else owns. Not thread-safe.
///
/// At each allocation the question is whether any live allocation uses a byte of its slot. A search tree over live
/// slots would answer it in O(log n), with several cache misses.
/// The plan itself answers it with fewer than three comparisons:
///
/// 1. A cursor *passes* the slots of its stream in order; a slot that is passed is either served or left out.
/// 2. A slot is *clean* in this iteration once it has been passed, has been freed again if it was served, and all its
///    predecessors were passed before it (they need not be clean: see 4).
/// 3. A slot is served if all its predecessors are clean. By induction no slot planned earlier still uses its bytes,
///    except in case 4.
/// 4. An allocation may live longer than recorded. If it is found live when a successor becomes clean, it is *odd* from
///    then on, and so is everything that is live when an iteration begins. A slot that overlaps an odd one is not
///    served. There are few odd slots; above a limit nothing is served.
/// 5. A slot with a predecessor that was not passed is left out, and so are its successors, until that predecessor is
///    passed. If a stream had allocations without a slot, its cursor may pass as many slots on demand: those
///    allocations were probably these slots, with other sizes.
///
/// An allocation that gets no slot may become a *guest*: it is placed where the range is free and none of the next
/// slots lie, and no slot that overlaps it is served. This is done only if the plan has one stream; with several, it
/// would be unknown what a guest's stream must wait for.
///
/// Streams: a slot's stream is ordered after the frees of its predecessors on other streams. If a predecessor was left
/// out, it is ordered after all frees, because an earlier slot may have used the bytes. If the slot is the first user
/// of some bytes, it is ordered after the last iteration. If the device fails to order streams, the slot is left out.
class PlanServer {
 public:
  struct Options {
    Bytes alignment;
    PlanCursor::Options cursor;
    bool checks = false;
  };
  enum class Verdict : std::uint8_t { served, unplanned, deviated, blocked };
  struct Answer {
    Verdict verdict = Verdict::deviated;
    std::byte* address = nullptr;  ///< If served, or a guest; else null.
  };

  /// `base` is the start of a range of the plan's size.
  PlanServer(Device& device, IterationPlan plan, std::byte* base, const Options& options);

  void begin_iteration();
  /// Precondition: 0 < size <= kMaxBytes.
  Answer allocate(Bytes size, StreamId stream);
  [[nodiscard]] bool owns(const std::byte* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_) <
           static_cast<std::uintptr_t>(plan_.size.value());
  }
  /// Returns the requested size; nothing if no live allocation begins at the address.
  /// Precondition of both functions: `owns(address)`.
  std::optional<Bytes> free(std::byte* address, Bytes size, StreamId stream);
  Status record_use(std::byte* address, StreamId stream);

  /// Waits for all work that uses the range.
  Status synchronize();

  [[nodiscard]] const IterationPlan& plan() const { return plan_; }
  [[nodiscard]] std::uint64_t live() const { return live_; }
  [[nodiscard]] std::uint64_t event_waits() const { return ordering_.waits(); }
  void reset_waits() { ordering_.reset_waits(); }
  /// The blocks of `size` bytes from the base, in address order, without gaps.
  [[nodiscard]] std::vector<MemorySnapshot::Block> blocks(Bytes size) const;

 private:
  struct SlotState {
    StreamOrdering::Moment freed = 0;
    std::uint32_t clean = 0;  ///< The last iteration in which it became clean.
    bool left_out = false;
  };
  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};
  struct Odd {
    std::uint32_t slot;
    bool carried;  ///< From an earlier iteration.
  };

  [[nodiscard]] std::optional<std::size_t> stream_index(StreamId stream);
  /// Places the allocation as a guest, if possible; preferably where its blocked slot would have been.
  Answer shelter(Verdict verdict, Bytes size, std::optional<std::uint32_t> slot);
  void watch_for_guests();
  /// Tells the guests which slots come next, unless they are up to date.
  void expect_slots();
  std::optional<Bytes> deallocate_guest(Bytes offset, Guests::Held guest, Bytes size, StreamId stream);
  [[nodiscard]] bool is_live(std::uint32_t slot) const { return places_.of(slot).owner == slot; }
  [[nodiscard]] bool is_passed(std::uint32_t slot) const { return slot < cursors_[plan_.slots[slot].stream].next(); }
  [[nodiscard]] bool is_free(std::uint32_t slot);
  [[nodiscard]] bool put_in_order(std::uint32_t slot);
  /// Passes all slots before this one that the cursor has not passed yet.
  void leave_out_up_to(PlanCursor& cursor, std::uint32_t slot);
  void leave_out(std::uint32_t slot);
  /// Whether the slot and all its predecessors are passed. If so, it is clean from now on, or live and odd.
  bool settle(std::uint32_t slot);
  bool settle_predecessors(std::uint32_t slot);
  [[nodiscard]] bool try_to_pass(std::uint32_t slot);
  void occupy(std::uint32_t slot, Bytes requested);
  void vacate(std::uint32_t slot);
  /// Returns whether it was carried into this iteration.
  bool remove_odd(std::uint32_t slot);

  Device& device_;
  IterationPlan plan_;
  std::byte* base_;
  Bytes alignment_;
  bool checks_;
  PlaceTable places_;
  std::vector<SlotState> states_;
  std::vector<PlanCursor> cursors_;  ///< Per stream.
  std::vector<Odd> odd_;
  StreamOrdering ordering_;
  ForeignUses uses_;
  Guests guests_;
  std::uint32_t expected_from_ = kNothing;  ///< The next slot when the guests were last updated.
  std::size_t last_stream_ = 0;
  int patience_ = 0;  ///< How many more slots this allocation may settle.
  std::uint32_t iteration_ = 0;
  std::uint64_t live_ = 0;
};

}  // namespace stowage::runtime
