#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace stowage {

/// What a stream knows to be over: of each stream, everything up to a position of the program; and some parts of ops
/// with bodies, which may lie behind that position (a body that did not run is over).
struct Known {
  using Part = std::uint64_t;

  std::vector<std::uint32_t> up_to;  ///< By stream number.
  std::vector<Part> parts;           ///< Ascending.

  [[nodiscard]] bool has(Part part) const { return std::binary_search(parts.begin(), parts.end(), part); }
  void add(Part part) {
    const auto at = std::lower_bound(parts.begin(), parts.end(), part);
    if (at == parts.end() || *at != part) parts.insert(at, part);
  }

  /// What either knows.
  void merge(const Known& other) {
    for (std::size_t s = 0; s < up_to.size(); ++s) up_to[s] = std::max(up_to[s], other.up_to[s]);
    if (other.parts.empty()) return;
    std::vector<Part> both;
    std::set_union(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(), std::back_inserter(both));
    parts = std::move(both);
  }

  /// What both know.
  void meet(const Known& other) {
    for (std::size_t s = 0; s < up_to.size(); ++s) up_to[s] = std::min(up_to[s], other.up_to[s]);
    std::vector<Part> both;
    std::set_intersection(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(), std::back_inserter(both));
    parts = std::move(both);
  }
};

}  // namespace stowage
