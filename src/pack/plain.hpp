#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// Whether a plain problem may have such an item: one piece, no pin.
[[nodiscard]] bool is_plain(const Item& item);
/// Whether the problem is of the kind that `Plain` stands for.
[[nodiscard]] bool is_plain(const Problem& problem);

/// A problem of the simplest kind — one piece per item, one region without a limit, no pins, no stream order — with
/// time compressed to *sections*, the maximal sets of items that are live together. Two items meet iff they share a
/// section, and the bound is the largest section. Numbers are plain for the inner loops; items of size 0 are left out
/// (they lie at 0).
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

  /// Nothing when the problem is not of this kind. O(n log n).
  static std::optional<Plain> from(const Problem& problem);

  /// The answer to the problem from offsets of these items.
  [[nodiscard]] std::vector<Position> positions(const Problem& problem, std::span<const std::int64_t> offsets) const;
};

}  // namespace stowage::pack
