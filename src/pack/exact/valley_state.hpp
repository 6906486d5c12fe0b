#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "pack/exact/section_set.hpp"
#include "pack/exact/valley_problem.hpp"
#include "pack/exact/valley_search.hpp"
#include "pack/rounding.hpp"

namespace stowage::pack {

/// A placement under construction, bottom-up: which items are placed and where, and the lowest offset that each of the
/// others can still have (its limit). Maintains the floors of the sections, and can undo everything since a mark. After
/// each group of changes (a `place`, or several `set_limit`), `settle` must be called.
///
/// What an undo needs is kept small, because a path may raise the limit of each item once for each item that it meets:
/// a section is recorded once per mark, and a reason is saved as a whole only where it was not changed by one section.
template <std::size_t Words>
class ValleyState {
 public:
  using Set = SectionSet<Words>;
  static constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max() / 4;

  explicit ValleyState(const ValleyProblem& problem);
  /// Nothing placed, all limits 0.
  void reset(Explanations explanations);

  [[nodiscard]] std::uint32_t left() const { return left_; }
  [[nodiscard]] bool placed(std::uint32_t i) const { return placed_[i] != 0; }
  /// Precondition: the item is placed.
  [[nodiscard]] std::int64_t offset(std::uint32_t i) const { return offset_[i]; }
  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return offset_; }
  /// The lower limit of an unplaced item, and the sections on whose content it depends.
  [[nodiscard]] std::int64_t limit(std::uint32_t i) const { return limit_[i]; }
  [[nodiscard]] const Set& reason(std::uint32_t i) const { return reason_[i]; }
  /// The sections of an item.
  [[nodiscard]] const Set& range(std::uint32_t i) const { return range_[i]; }

  [[nodiscard]] std::span<const std::uint32_t> unplaced(std::uint32_t s) const {
    return {rows_[s].data(), unplaced_[s]};
  }
  /// The lowest limit of an unplaced item in `s`, and how many items have it.
  [[nodiscard]] std::int64_t floor(std::uint32_t s) const { return floor_[s]; }
  [[nodiscard]] std::uint32_t at_floor(std::uint32_t s) const { return at_floor_[s]; }
  /// The bytes of the unplaced items in `s`.
  [[nodiscard]] std::int64_t remaining(std::uint32_t s) const { return remaining_[s]; }
  /// Whether some unplaced item in `s` continues into the next section.
  [[nodiscard]] bool goes_on(std::uint32_t s) const { return bridges_[s] > 0; }

  /// Places `i` and raises the limits of the items that it meets to its top.
  void place(std::uint32_t i, std::int64_t offset);
  /// Raises the limit of an unplaced item.
  void set_limit(std::uint32_t i, std::int64_t limit, const Set& reason);
  /// Updates the floors and calls `rose` with each section whose floor rose.
  template <class Function>
  void settle(Function rose);

  struct Mark {
    std::size_t changes;
    std::size_t section_changes;
  };
  [[nodiscard]] Mark mark() {
    ++epoch_;
    return {trail_.size(), section_trail_.size()};
  }
  void undo(Mark mark);
  /// The bytes that undoing everything needs at present.
  [[nodiscard]] std::size_t trail_bytes() const {
    return trail_.size() * sizeof(Change) + section_trail_.size() * sizeof(SectionChange) + saved_.size() * sizeof(Set);
  }

 private:
  /// The state to restore: a limit with its reason, or (`limit` == kPlaced) an item that was placed.
  struct Change {
    std::int64_t limit;
    std::uint32_t item;
    std::int32_t reason;  ///< One of the following, or the section that was inserted into the reason.
  };
  static constexpr std::int64_t kPlaced = -1;
  static constexpr std::int32_t kSameReason = -1;
  static constexpr std::int32_t kSavedReason = -2;  ///< It is the last of `saved_`.
  /// The reason was empty; minus 1 + s: it was only section s.
  static constexpr std::int32_t kNoReason = -3;

  /// The state of a section to restore.
  struct SectionChange {
    std::uint32_t section;
    std::uint32_t at_floor;
    std::int64_t floor;
  };

  void find_floor(std::uint32_t s);
  void record(std::uint32_t s);
  void leave_floor(std::uint32_t i, std::uint32_t begin, std::uint32_t end);
  std::int32_t add_reason(std::uint32_t i, std::uint32_t section);
  void restore_reason(std::uint32_t i, std::int32_t reason);
  void take_out(std::uint32_t i);
  void put_back(std::uint32_t i);

  const ValleyProblem& problem_;
  const Plain& plain_;
  Explanations explanations_ = Explanations::full;
  // By item.
  std::vector<Set> range_;
  std::vector<std::int64_t> limit_;
  std::vector<Set> reason_;
  std::vector<std::int64_t> offset_;
  std::vector<std::uint8_t> placed_;
  std::vector<std::size_t> row_index_begin_;  ///< By item: where its entries in `row_index_` begin.
  std::vector<std::uint32_t> row_index_;      ///< By item and section: the item's index in the section's row.
  // By section.
  std::vector<std::vector<std::uint32_t>> rows_;  ///< Its items, unplaced ones first.
  std::vector<std::uint32_t> unplaced_;           ///< How many items of the row are unplaced.
  std::vector<std::int64_t> floor_;
  std::vector<std::uint32_t> at_floor_;
  std::vector<std::int64_t> remaining_;
  std::vector<std::uint32_t> bridges_;  ///< Unplaced items that continue into the next section.
  std::uint32_t left_ = 0;
  std::vector<Change> trail_;
  std::vector<Set> saved_;
  std::vector<SectionChange> section_trail_;
  std::uint64_t epoch_ = 0;                 ///< The number of marks and undos so far.
  std::vector<std::uint64_t> recorded_in_;  ///< By section: the epoch in which it was last recorded.
  std::vector<std::uint32_t> dirty_;        ///< Sections whose floor must be recomputed.
};

template <std::size_t Words>
ValleyState<Words>::ValleyState(const ValleyProblem& problem)
    : problem_(problem),
      plain_(problem.plain),
      range_(plain_.count()),
      rows_(plain_.sections()),
      recorded_in_(plain_.sections()) {
  for (std::uint32_t i = 0; i < plain_.count(); ++i) {
    row_index_begin_.push_back(row_index_.size());
    for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
      row_index_.push_back(static_cast<std::uint32_t>(rows_[s].size()));
      rows_[s].push_back(i);
      range_[i].insert(s);
    }
  }
}

template <std::size_t Words>
void ValleyState<Words>::reset(Explanations explanations) {
  explanations_ = explanations;
  const std::uint32_t sections = plain_.sections();
  limit_.assign(plain_.count(), 0);
  reason_.assign(plain_.count(), Set{});
  offset_.assign(plain_.count(), 0);
  placed_.assign(plain_.count(), 0);
  floor_.assign(sections, 0);
  at_floor_.assign(sections, 0);
  remaining_ = plain_.total;
  bridges_.assign(sections, 0);
  unplaced_.assign(sections, 0);
  dirty_.clear();
  trail_.clear();
  saved_.clear();
  section_trail_.clear();
  ++epoch_;
  left_ = plain_.count();
  for (std::uint32_t i = 0; i < plain_.count(); ++i) {
    for (std::uint32_t s = plain_.first[i]; s + 1 < plain_.last[i]; ++s) ++bridges_[s];
  }
  for (std::uint32_t s = 0; s < sections; ++s) {
    unplaced_[s] = static_cast<std::uint32_t>(rows_[s].size());
    find_floor(s);
  }
}

template <std::size_t Words>
void ValleyState<Words>::find_floor(std::uint32_t s) {
  std::int64_t least = kInfinite;
  std::uint32_t count = 0;
  for (const std::uint32_t i : unplaced(s)) {
    if (limit_[i] < least) {
      least = limit_[i];
      count = 1;
    } else {
      count += limit_[i] == least;
    }
  }
  floor_[s] = least;
  at_floor_[s] = count;
}

/// Called before a section changes.
template <std::size_t Words>
void ValleyState<Words>::record(std::uint32_t s) {
  if (recorded_in_[s] == epoch_) return;
  recorded_in_[s] = epoch_;
  section_trail_.push_back({s, at_floor_[s], floor_[s]});
}

/// Called before the limit of `i` rises, for some of its sections. Where it was the last item at the floor, the floor
/// must be recomputed.
template <std::size_t Words>
void ValleyState<Words>::leave_floor(std::uint32_t i, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t s = begin; s < end; ++s) {
    if (floor_[s] != limit_[i]) continue;
    record(s);
    if (--at_floor_[s] == 0) dirty_.push_back(s);
  }
}

/// Moves `i` after the unplaced items in its rows. `put_back` calls must come in the reverse order.
template <std::size_t Words>
void ValleyState<Words>::take_out(std::uint32_t i) {
  for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
    std::uint32_t& index = row_index_[row_index_begin_[i] + s - plain_.first[i]];
    const std::uint32_t last = --unplaced_[s];
    const std::uint32_t other = rows_[s][last];
    rows_[s][index] = other;
    row_index_[row_index_begin_[other] + s - plain_.first[other]] = index;
    rows_[s][last] = i;
    index = last;
    remaining_[s] -= plain_.size[i];
    if (s + 1 < plain_.last[i]) --bridges_[s];
  }
  placed_[i] = 1;
  --left_;
}

template <std::size_t Words>
void ValleyState<Words>::put_back(std::uint32_t i) {
  for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
    ++unplaced_[s];
    remaining_[s] += plain_.size[i];
    if (s + 1 < plain_.last[i]) ++bridges_[s];
  }
  placed_[i] = 0;
  ++left_;
}

template <std::size_t Words>
void ValleyState<Words>::set_limit(std::uint32_t i, std::int64_t limit, const Set& reason) {
  trail_.push_back({limit_[i], i, kSavedReason});
  saved_.push_back(reason_[i]);
  leave_floor(i, plain_.first[i], plain_.last[i]);
  limit_[i] = limit;
  reason_[i] = reason;
}

/// The item lies above another because they meet, in that section, and because it cannot lie below. Returns how to
/// restore the reason.
template <std::size_t Words>
std::int32_t ValleyState<Words>::add_reason(std::uint32_t i, std::uint32_t section) {
  Set& reason = reason_[i];
  std::int32_t before = static_cast<std::int32_t>(section);
  if (explanations_ == Explanations::full) {
    if (reason.contains(section)) return kSameReason;
  } else {
    const std::optional<std::uint32_t> only = reason.only();
    before = kNoReason - (only ? static_cast<std::int32_t>(*only) + 1 : 0);
    if (!only && !reason.empty()) {
      before = kSavedReason;
      saved_.push_back(reason);
    }
    reason.clear();
  }
  reason.insert(section);
  return before;
}

template <std::size_t Words>
void ValleyState<Words>::restore_reason(std::uint32_t i, std::int32_t reason) {
  if (reason == kSameReason) return;
  if (reason >= 0) {
    reason_[i].erase(static_cast<std::uint32_t>(reason));
    return;
  }
  if (reason == kSavedReason) {
    reason_[i] = saved_.back();
    saved_.pop_back();
    return;
  }
  reason_[i].clear();
  if (reason < kNoReason) reason_[i].insert(static_cast<std::uint32_t>(kNoReason - reason - 1));
}

template <std::size_t Words>
void ValleyState<Words>::place(std::uint32_t i, std::int64_t offset) {
  trail_.push_back({kPlaced, i, kSameReason});
  // All of its sections change; others only where an item that meets it was the last at the floor.
  for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
    record(s);
    dirty_.push_back(s);
  }
  take_out(i);
  offset_[i] = offset;
  const std::int64_t top = offset + plain_.size[i];
  for (const std::uint32_t j : problem_.neighbours[i]) {
    if (placed_[j]) continue;
    const std::int64_t limit = round_up(top, plain_.alignment[j]);
    if (limit <= limit_[j]) continue;
    trail_.push_back({limit_[j], j, add_reason(j, std::max(plain_.first[i], plain_.first[j]))});
    leave_floor(j, plain_.first[j], std::min(plain_.last[j], plain_.first[i]));
    leave_floor(j, std::max(plain_.first[j], plain_.last[i]), plain_.last[j]);
    limit_[j] = limit;
  }
}

template <std::size_t Words>
template <class Function>
void ValleyState<Words>::settle(Function rose) {
  for (const std::uint32_t s : dirty_) {
    find_floor(s);
    rose(s);
  }
  dirty_.clear();
}

template <std::size_t Words>
void ValleyState<Words>::undo(Mark mark) {
  for (; trail_.size() > mark.changes; trail_.pop_back()) {
    const Change& change = trail_.back();
    if (change.limit == kPlaced) {
      put_back(change.item);
      continue;
    }
    limit_[change.item] = change.limit;
    restore_reason(change.item, change.reason);
  }
  for (; section_trail_.size() > mark.section_changes; section_trail_.pop_back()) {
    const SectionChange& change = section_trail_.back();
    floor_[change.section] = change.floor;
    at_floor_[change.section] = change.at_floor;
  }
  dirty_.clear();
  ++epoch_;
}

}  // namespace stowage::pack
