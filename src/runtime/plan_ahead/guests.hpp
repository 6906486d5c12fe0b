#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "runtime/plan_ahead/iteration_plan.hpp"

namespace stowage::runtime {

/// Allocations without a slot that lie in free bytes of a plan's range all the same. An iteration with other shapes
/// than the recorded one, or without some of its allocations, loses its slots; it needs no other memory for that, since
/// most of the range is free then.
///
/// To know which bytes are free costs O(log n) at each allocation and free, so it is known only while there are guests:
/// from the first one on, when all live slots are looked up, to the beginning of an iteration that has none. Whatever
/// needs memory of the host for that throws `std::bad_alloc` where there is none, and has changed nothing then. Not
/// thread-safe.
class Guests {
 public:
  /// What lies somewhere.
  struct Held {
    Bytes upper;      ///< The end of its bytes.
    Bytes requested;  ///< Of a guest.
    bool guest = false;
  };

  explicit Guests(const IterationPlan& plan) : end_(plan.size) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Null when none begins there.
  [[nodiscard]] const Held* find(Bytes offset) const;
  /// While watching: whether no slot and no guest has any of the bytes.
  [[nodiscard]] bool is_free(ByteRange bytes) const;
  /// Slots too, from lower; empty while nobody watches.
  [[nodiscard]] const std::map<Bytes, Held>& occupied() const { return occupied_; }

  /// Where a guest of that size may lie: at `preferred` if that is free, else in the smallest gap that is large enough,
  /// the lowest of equals, between what is taken and what is expected. It looks at the first thousand gaps only.
  [[nodiscard]] std::optional<Bytes> find_place(Bytes size, std::optional<Bytes> preferred) const;
  void enter(Bytes offset, Bytes size, Bytes requested);
  void leave(Bytes offset);

  [[nodiscard]] bool watching() const { return watching_; }
  /// From now on all that happens to slots is said below. These ones are live.
  void watch(const std::vector<ByteRange>& live);
  /// Precondition: there are no guests.
  void stop_watching();
  /// Bytes that are free but will be asked for soon: whoever takes them puts others out. Any ranges, until the next
  /// call.
  void expect(std::vector<ByteRange> soon);

  void slot_taken(ByteRange bytes) { occupied_.emplace(bytes.lower, Held{.upper = bytes.upper, .requested = {}}); }
  void slot_left(ByteRange bytes) { occupied_.erase(bytes.lower); }

 private:
  Bytes end_;
  std::size_t count_ = 0;
  bool watching_ = false;
  std::map<Bytes, Held>
      occupied_;  ///< Disjoint, while watching, by offset: one book, so that no failure leaves two at odds.
  std::vector<ByteRange> expected_;  ///< By lower.
};

}  // namespace stowage::runtime
