#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pack/plain.hpp"

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

/// The data that all searches of a problem share. Immutable.
struct ValleyProblem {
  ValleyProblem(const Plain& given, ItemLists meeting);

  /// With the bytes that each item takes as its size (`with_taken_sizes`).
  Plain plain;
  std::vector<std::int64_t> sizes;  ///< By item: without what is taken beyond its end.
  /// The alignments to which some size, as taken, is still to be rounded up among the items of that alignment or a
  /// larger one. Empty for most problems.
  std::vector<std::int64_t> coarse;
  ItemLists neighbours;  ///< The items that meet each item.
  ItemLists same_sections;
};

}  // namespace stowage::pack
