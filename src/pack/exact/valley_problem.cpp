#include "pack/exact/valley_problem.hpp"

#include <algorithm>
#include <numeric>

#include "pack/taken.hpp"

namespace stowage::pack {

ValleyProblem::ValleyProblem(const Plain& given, ItemLists meeting)
    : plain(with_taken_sizes(given).value_or(given)),
      sizes(given.size),
      coarse(coarse_alignments(plain)),
      neighbours(std::move(meeting)),
      same_sections(ItemLists::of_same_sections(given)) {}

std::optional<ItemLists> ItemLists::meeting(const Plain& plain, std::size_t max_pairs) {
  ItemLists lists;
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    for (std::uint32_t j = 0; j < plain.count(); ++j) {
      if (j != i && plain.first[i] < plain.last[j] && plain.first[j] < plain.last[i]) lists.items_.push_back(j);
    }
    if (lists.items_.size() > 2 * max_pairs) return std::nullopt;
    lists.begin_.push_back(lists.items_.size());
  }
  return lists;
}

ItemLists ItemLists::of_same_sections(const Plain& plain) {
  std::vector<std::uint32_t> order(plain.count());
  std::iota(order.begin(), order.end(), 0U);
  const auto sections = [&](std::uint32_t i) { return std::pair(plain.first[i], plain.last[i]); };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(sections(a), a) < std::pair(sections(b), b); });
  ItemLists lists;
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    const auto [begin, end] = std::equal_range(
        order.begin(), order.end(), i, [&](std::uint32_t a, std::uint32_t b) { return sections(a) < sections(b); });
    std::copy_if(begin, end, std::back_inserter(lists.items_), [&](std::uint32_t j) { return j != i; });
    lists.begin_.push_back(lists.items_.size());
  }
  return lists;
}

}  // namespace stowage::pack
