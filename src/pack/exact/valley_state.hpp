#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pack/exact/section_set.hpp"
#include "pack/exact/valley_search.hpp"
#include "pack/plain.hpp"
#include "pack/rounding.hpp"

namespace stowage::pack {

/// For each item a list of other items, in compressed rows.
class ItemLists {
 public:
  /// The items that meet each item; nothing when there are more than `max_pairs` pairs.
  static std::optional<ItemLists> meeting(const Plain& plain, std::size_t max_pairs);
  /// The items with exactly the same sections as each item.
  static ItemLists of_same_sections(const Plain& plain);

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::uint32_t i) const {
    return {items_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }

 private:
  std::vector<std::size_t> begin_ = {0};
  std::vector<std::uint32_t> items_;
};

/// The data that all searches of a problem share.
struct ValleyProblem {
  const Plain& plain;
  ItemLists neighbours;
  ItemLists same_sections;
};

/// A placement under construction, bottom-up: which items are placed and where, and the lowest offset that each of the
/// others can still have (its limit). Maintains the floors of the sections, and can undo everything since a mark. After
/// each group of changes (a `place`, or several `set_limit`), `settle` must be called.
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
  [[nodiscard]] Mark mark() const { return {trail_.size(), section_trail_.size()}; }
  void undo(Mark mark);

 private:
  /// The state to restore: a limit with its reason, or (`limit` == kPlaced) an item that was placed.
  struct Change {
    std::uint32_t item;
    std::int64_t limit;
    Set reason;
  };
  static constexpr std::int64_t kPlaced = -1;

  /// The state of a section to restore.
  struct SectionChange {
    std::uint32_t section;
    std::uint32_t at_floor;
    std::int64_t floor;
  };

  void find_floor(std::uint32_t s);
  void leave_floor(std::uint32_t i);
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
  std::vector<SectionChange> section_trail_;
  std::vector<std::uint32_t> dirty_;  ///< Sections whose floor must be recomputed.
};

template <std::size_t Words>
ValleyState<Words>::ValleyState(const ValleyProblem& problem)
    : problem_(problem), plain_(problem.plain), range_(plain_.count()), rows_(plain_.sections()) {
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
  section_trail_.clear();
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

/// Called before `i` is placed or its limit rises. Where it was the last item at the floor, the floor must be
/// recomputed.
template <std::size_t Words>
void ValleyState<Words>::leave_floor(std::uint32_t i) {
  for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
    if (floor_[s] != limit_[i]) continue;
    section_trail_.push_back({s, at_floor_[s], floor_[s]});
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
  trail_.push_back({i, limit_[i], reason_[i]});
  leave_floor(i);
  limit_[i] = limit;
  reason_[i] = reason;
}

template <std::size_t Words>
void ValleyState<Words>::place(std::uint32_t i, std::int64_t offset) {
  trail_.push_back({i, kPlaced, {}});
  leave_floor(i);
  take_out(i);
  offset_[i] = offset;
  const std::int64_t top = offset + plain_.size[i];
  for (const std::uint32_t j : problem_.neighbours[i]) {
    if (placed_[j]) continue;
    const std::int64_t limit = round_up(top, plain_.alignment[j]);
    if (limit <= limit_[j]) continue;
    // It lies above i because they meet and because it cannot lie below.
    Set reason;
    if (explanations_ == Explanations::full) reason = reason_[j];
    reason.insert(std::max(plain_.first[i], plain_.first[j]));
    set_limit(j, limit, reason);
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
    reason_[change.item] = change.reason;
  }
  for (; section_trail_.size() > mark.section_changes; section_trail_.pop_back()) {
    const SectionChange& change = section_trail_.back();
    floor_[change.section] = change.floor;
    at_floor_[change.section] = change.at_floor;
  }
  dirty_.clear();
}

}  // namespace stowage::pack
