#include "pack/bounds/clique_grower.hpp"

#include <bit>

namespace stowage::pack {
namespace {

void set(std::span<std::uint64_t> bits, std::uint32_t bit) { bits[bit / 64] |= std::uint64_t{1} << (bit % 64); }

}  // namespace

void CliqueGrower::join(std::uint32_t a, std::uint32_t b) {
  set(std::span(joined_).subspan(a * words_, words_), b);
  set(std::span(joined_).subspan(b * words_, words_), a);
}

std::vector<std::uint32_t> CliqueGrower::grow(std::vector<std::uint32_t> clique) {
  std::vector<std::uint64_t> members(words_);
  std::vector<std::uint64_t> candidates(words_, ~std::uint64_t{0});
  const auto take = [&](std::uint32_t each) {
    set(members, each);
    for (std::size_t w = 0; w < words_; ++w) candidates[w] &= joined_[each * words_ + w];
  };
  for (const std::uint32_t each : clique) take(each);
  for (std::size_t w = 0; w < words_; ++w) {
    while (candidates[w] != 0) {
      clique.push_back(static_cast<std::uint32_t>(64 * w) +
                       static_cast<std::uint32_t>(std::countr_zero(candidates[w])));
      take(clique.back());
    }
  }
  for (const std::uint32_t each : clique) {
    for (std::size_t w = 0; w < words_; ++w) together_[each * words_ + w] |= members[w];
  }
  return clique;
}

}  // namespace stowage::pack
