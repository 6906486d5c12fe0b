#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stowage::pack {

/// A set of section numbers below 64 × Words. Explanations are made of these sets, millions of times per second.
template <std::size_t Words>
class SectionSet {
 public:
  void clear() { words_.fill(0); }
  void insert(std::uint32_t section) { words_[section / 64] |= std::uint64_t{1} << (section % 64); }
  void insert(const SectionSet& other) {
    for (std::size_t w = 0; w < Words; ++w) words_[w] |= other.words_[w];
  }
  [[nodiscard]] bool meets(const SectionSet& other) const {
    std::uint64_t common = 0;
    for (std::size_t w = 0; w < Words; ++w) common |= words_[w] & other.words_[w];
    return common != 0;
  }

 private:
  std::array<std::uint64_t, Words> words_{};
};

}  // namespace stowage::pack
