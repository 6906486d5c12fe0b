#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stowage::pack {

/// Grows cliques of a graph greedily, lowest number first. Uses bit rows, so that a step is O(n / 64).
class CliqueGrower {
 public:
  explicit CliqueGrower(std::size_t count)
      : words_((count + 63) / 64), joined_(words_ * count), together_(words_ * count) {}

  /// Adds an edge.
  void join(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] bool are_joined(std::uint32_t a, std::uint32_t b) const {
    return (joined_[a * words_ + b / 64] >> (b % 64) & 1) != 0;
  }
  /// Extends a set of nodes of which every two are joined.
  std::vector<std::uint32_t> grow(std::vector<std::uint32_t> clique);
  /// Whether some clique grown so far contains both; the same node twice: contains it.
  [[nodiscard]] bool together(std::uint32_t a, std::uint32_t b) const {
    return (together_[a * words_ + b / 64] >> (b % 64) & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> joined_;
  std::vector<std::uint64_t> together_;
};

}  // namespace stowage::pack
