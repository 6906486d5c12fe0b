#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/plan_ahead/iteration_plan.hpp"
#include "runtime/plan_ahead/place_table.hpp"

namespace stowage::runtime {

/// Allocations without a slot that lie in free bytes of a plan's range all the same. An iteration with other shapes than the
/// recorded one, or without some of its allocations, loses its slots; it needs no other memory for that, since most of the range
/// is free then.
///
/// To know which bytes are free costs O(log n) at each allocation and free, so it is known only while there are guests: from the
/// first one on, when all live slots are looked up, to the beginning of an iteration that has none. Not thread-safe.
class Guests {
 public:
  struct Guest {
    Bytes size;  ///< Rounded to the alignment.
    Bytes requested;
    std::uint32_t number = 0;  ///< Above all slots'; for `ForeignUses`.
  };

  explicit Guests(const IterationPlan& plan) : end_(plan.size), next_number_(static_cast<std::uint32_t>(plan.slots.size())) {}

  [[nodiscard]] bool empty() const { return guests_.empty(); }
  [[nodiscard]] const std::map<Bytes, Guest>& all() const { return guests_; }
  /// Null when none begins there.
  [[nodiscard]] const Guest* find(Bytes offset) const;
  /// Whether one of them has any of the bytes.
  [[nodiscard]] bool overlap(ByteRange bytes) const;

  /// Where a guest of that size may lie: at `preferred` if that is free, else in the smallest gap that is large enough, the
  /// lowest of equals, between what is taken and what is expected. It looks at the first thousand gaps only.
  [[nodiscard]] std::optional<Bytes> find_place(Bytes size, std::optional<Bytes> preferred) const;
  void enter(Bytes offset, Bytes size, Bytes requested);
  void leave(Bytes offset);

  [[nodiscard]] bool watching() const { return watching_; }
  /// From now on all that happens to slots is said below. These ones are live.
  void watch(const std::vector<ByteRange>& live);
  /// Precondition: there are no guests.
  void stop_watching();
  /// Bytes that are free but will be asked for soon: whoever takes them puts others out. Any ranges, until the next call.
  void expect(std::vector<ByteRange> soon);

  void slot_taken(ByteRange bytes) { occupied_.emplace(bytes.lower, bytes.upper); }
  void slot_left(ByteRange bytes) { occupied_.erase(bytes.lower); }

 private:
  [[nodiscard]] bool is_free(ByteRange bytes) const;

  Bytes end_;
  std::uint32_t next_number_;
  std::map<Bytes, Guest> guests_;  ///< By offset.
  bool watching_ = false;
  std::map<Bytes, Bytes> occupied_;  ///< Disjoint ranges of slots and guests, while watching: from lower to upper.
  std::vector<ByteRange> expected_;  ///< By lower.
};

}  // namespace stowage::runtime
