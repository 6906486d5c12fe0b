#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stowage::pack {

/// A set of section numbers below 64 × Words. Explanations are made of these sets, millions of times per second.
template <std::size_t Words>
class SectionSet {
 public:
  void clear() { words_.fill(0); }
  void insert(std::uint32_t section) { words_[section / 64] |= std::uint64_t{1} << (section % 64); }
  void erase(std::uint32_t section) { words_[section / 64] &= ~(std::uint64_t{1} << (section % 64)); }
  void insert(const SectionSet& other) {
    for (std::size_t w = 0; w < Words; ++w) words_[w] |= other.words_[w];
  }
  [[nodiscard]] bool meets(const SectionSet& other) const {
    std::uint64_t common = 0;
    for (std::size_t w = 0; w < Words; ++w) common |= words_[w] & other.words_[w];
    return common != 0;
  }
  [[nodiscard]] bool contains(std::uint32_t section) const { return (words_[section / 64] >> (section % 64) & 1) != 0; }
  [[nodiscard]] bool empty() const { return words_ == std::array<std::uint64_t, Words>{}; }
  /// The section, if it is the only one of the set.
  [[nodiscard]] std::optional<std::uint32_t> only() const {
    std::optional<std::uint32_t> found;
    for (std::size_t w = 0; w < Words; ++w) {
      if (words_[w] == 0) continue;
      if (found || !std::has_single_bit(words_[w])) return std::nullopt;
      found = static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(words_[w]));
    }
    return found;
  }

 private:
  std::array<std::uint64_t, Words> words_{};
};

}  // namespace stowage::pack
