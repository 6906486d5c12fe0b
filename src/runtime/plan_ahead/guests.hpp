#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "runtime/plan_ahead/iteration_plan.hpp"

namespace stowage::runtime {

/// Allocations without a slot that are placed in free bytes of a plan's range. An iteration with other shapes than the
/// recorded one, or with some allocations missing, loses its slots. It needs no additional memory, since most of the
/// range is free then.
///
/// Tracking the free bytes costs O(log n) per allocation and free, so it is done only while there are guests: from the
/// first guest, when all live slots are entered, to the beginning of an iteration without guests. Functions that need
/// host memory throw `std::bad_alloc` if there is none; then they have changed nothing. Not thread-safe.
class Guests {
 public:
  /// A guest or a slot.
  struct Held {
    Bytes upper;      ///< The end of its bytes.
    Bytes requested;  ///< For a guest.
    bool guest = false;
  };

  explicit Guests(const IterationPlan& plan) : end_(plan.size) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// The guest that begins at this offset; null if there is none.
  [[nodiscard]] const Held* find(Bytes offset) const;
  /// While watching: whether no slot and no guest uses any of the bytes.
  [[nodiscard]] bool is_free(ByteRange bytes) const;
  /// Guests and slots by their first offset; empty while not watching.
  [[nodiscard]] const std::map<Bytes, Held>& occupied() const { return occupied_; }

  /// Where to place a guest of that size: at `preferred` if that is free, else by best fit in the gaps between occupied
  /// and expected bytes; of equal gaps, the lowest. Examines only the first thousand gaps.
  [[nodiscard]] std::optional<Bytes> find_place(Bytes size, std::optional<Bytes> preferred) const;
  void enter(Bytes offset, Bytes size, Bytes requested);
  void leave(Bytes offset);

  [[nodiscard]] bool watching() const { return watching_; }
  /// From now on the caller reports every change of a slot. `live` are the slots that are live now.
  void watch(const std::vector<ByteRange>& live);
  /// Precondition: there are no guests.
  void stop_watching();
  /// Bytes that are free but will be needed soon, so that guests should avoid them. Any ranges;
  /// valid until the next call.
  void expect(std::vector<ByteRange> soon);

  void slot_taken(ByteRange bytes) { occupied_.emplace(bytes.lower, Held{.upper = bytes.upper, .requested = {}}); }
  void slot_left(ByteRange bytes) { occupied_.erase(bytes.lower); }

 private:
  Bytes end_;
  std::size_t count_ = 0;
  bool watching_ = false;
  /// By offset, disjoint; only while watching. One map for slots and guests,
  /// so that a failure cannot leave two inconsistent.
  std::map<Bytes, Held> occupied_;
  std::vector<ByteRange> expected_;  ///< In order of `lower`.
};

}  // namespace stowage::runtime
