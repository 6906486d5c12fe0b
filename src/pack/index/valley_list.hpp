#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace stowage::pack {

/// The skyline over sections, as a list of stretches of equal level, with a cursor that walks down into valleys.
///
/// A greedy that fills valleys need not take the lowest one: what happens in a valley depends on nothing outside until
/// it is filled up to its lower neighbour, so every order of valleys gives the same answer. The cursor therefore stays
/// nearby, which needs no heap and keeps the working set in the cache. Flat arrays, indexed by the section where a
/// stretch begins: splitting and joining take a few writes, a walk is O(1) amortised; 16 bytes per section.
class ValleyList {
 public:
  /// A stretch lower than both neighbours.
  struct Valley {
    std::int64_t level;
    std::int64_t brim;    ///< The lower neighbour's level, or `kNoLevel` when there is none.
    std::uint32_t begin;  ///< Sections [begin, end).
    std::uint32_t end;
  };

  static constexpr std::int64_t kNoLevel = std::numeric_limits<std::int64_t>::max();

  /// One valley at level 0. Precondition: `sections` > 0.
  void reset(std::uint32_t sections);

  /// The valley at or near the cursor.
  [[nodiscard]] Valley find();

  /// Lifts [first, last), within the valley, to `level`; joins it with neighbours of that level; moves the cursor to
  /// what is left of the valley. Preconditions: `level` is above the valley's level; `valley` is what `find` returned
  /// last.
  void lift(const Valley& valley, std::uint32_t first, std::uint32_t last, std::int64_t level);

 private:
  struct Stretch {
    std::int64_t level;  ///< `kNoLevel` if none begins here.
    std::uint32_t end;
    std::uint32_t previous;  ///< Where the previous stretch begins.
  };

  void open(std::uint32_t begin, std::uint32_t end, std::int64_t level);

  std::vector<Stretch> stretches_;  ///< One more than sections, so that every stretch has a successor.
  std::uint32_t cursor_ = 0;        ///< Where some stretch begins.
};

}  // namespace stowage::pack
