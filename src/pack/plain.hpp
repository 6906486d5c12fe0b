#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// Whether a plain problem may contain such an item: one piece, which covers all of its bytes, and no pin.
[[nodiscard]] bool is_plain(const Item& item);
/// Whether the problem is plain.
[[nodiscard]] bool is_plain(const Problem& problem);

/// A plain problem (one piece per item, one paid region without a limit, no pins, stream order, joins or items to keep
/// apart) with time compressed
/// to *sections*, the maximal sets of items that are live together. Two items meet iff they share a section, and the
/// bound is the largest section. Uses built-in integers for the inner loops. Items of size 0 are left out (they lie at
/// 0).
struct Plain {
  std::vector<std::size_t> item;     ///< The index in the problem.
  std::vector<std::uint32_t> first;  ///< Sections [first, last) of each item.
  std::vector<std::uint32_t> last;
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> alignment;
  std::vector<std::int64_t> steps;  ///< The length of the life.
  std::vector<std::int64_t> total;  ///< The bytes of each section.
  std::int64_t bound = 0;           ///< The largest of those.

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(item.size()); }
  [[nodiscard]] std::uint32_t sections() const { return static_cast<std::uint32_t>(total.size()); }

  /// Nothing when the problem is not plain. O(n log n).
  static std::optional<Plain> from(const Problem& problem);

  /// Converts offsets of these items to positions of the whole problem.
  [[nodiscard]] std::vector<Position> positions(const Problem& problem, std::span<const std::int64_t> offsets) const;
};

}  // namespace stowage::pack
