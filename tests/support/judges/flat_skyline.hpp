#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pack/plain.hpp"

namespace stowage::testing {

/// The skyline greedy: fills the lowest valley first.
///
/// The skyline is the top of what has been placed, over sections. Repeat:
/// 1. take its lowest valley (the first among equals);
/// 2. in it, take the section with the most bytes still to be placed, which is the most urgent one;
/// 3. of the unplaced items that cover this section and lie within the valley, place the one with the highest priority
///    at the valley's floor;
/// 4. if there is none, try the next section; if no section has one, raise the valley to its lower neighbour.
///
/// A simple implementation, which `IndexedSkyline` must equal byte for byte. Flat arrays: O(n × sections of a valley),
/// fast up to some thousand items. Reuses its memory from run to run; not thread-safe.
class FlatSkyline {
 public:
  explicit FlatSkyline(const pack::Plain& plain);

  /// The peak, with `offsets` filled in; or, as soon as it would exceed `limit`, something above `limit`.
  std::int64_t run(std::span<const double> priority, std::int64_t limit, std::vector<std::int64_t>& offsets);

 private:
  struct Valley {
    std::int64_t level;
    std::uint32_t begin;
    friend bool operator>(const Valley& a, const Valley& b) {
      return a.level != b.level ? a.level > b.level : a.begin > b.begin;
    }
  };

  void reset(std::span<const double> priority);
  [[nodiscard]] std::uint32_t lowest_valley();
  [[nodiscard]] std::uint32_t choose_item(std::uint32_t begin, std::uint32_t end, std::int64_t level);
  [[nodiscard]] std::uint32_t most_urgent(std::uint32_t begin, std::uint32_t end, std::int64_t level) const;
  [[nodiscard]] std::uint32_t first_fitting(std::uint32_t section, std::uint32_t begin, std::uint32_t end);
  void raise(std::uint32_t begin);
  void set_level(std::uint32_t begin, std::uint32_t first, std::uint32_t last, std::int64_t level);
  void open(std::uint32_t begin, std::uint32_t end, std::int64_t level);

  const pack::Plain& plain_;
  std::vector<std::uint32_t> row_begin_;   ///< By section: where its items start in `rows_`.
  std::vector<std::uint32_t> row_length_;  ///< How many of them are still considered.
  std::vector<std::uint32_t> rows_;        ///< Items of each section, by priority; placed ones are dropped when met.
  std::vector<std::int64_t> remaining_;    ///< By section: bytes still to be placed.
  std::vector<std::int64_t> exhausted_;    ///< By section: the level at which no item fitted.
  std::vector<std::uint8_t> placed_;
  // The skyline as a list of valleys, by the section where they begin.
  std::vector<std::int64_t> level_;  ///< -1 where no valley begins.
  std::vector<std::uint32_t> end_;
  std::vector<std::uint32_t> previous_;
  std::vector<Valley> heap_;  ///< May contain outdated entries.
};

}  // namespace stowage::testing
