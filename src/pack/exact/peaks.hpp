#pragma once

#include <cstdint>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// The peaks that an optimal answer can have, so that no search is asked about others. With one region and no pins,
/// that is the end of an item whose offset is a multiple of its alignment and of the common divisor (`grain_of`). For
/// any other problem, it is every multiple of the common divisor.
class Peaks {
 public:
  explicit Peaks(const Problem& problem);

  /// The smallest one that is at least `from`. O(number of different sizes, modulo the alignment).
  [[nodiscard]] std::int64_t at_least(std::int64_t from) const;
  /// The largest one that is at most `to`; −1 if there is none.
  [[nodiscard]] std::int64_t at_most(std::int64_t to) const;

 private:
  /// Peaks `first`, `first` + `distance`, …
  struct Series {
    std::int64_t distance;
    std::int64_t first;
  };
  std::vector<Series> series_;  ///< Never empty.
};

}  // namespace stowage::pack
