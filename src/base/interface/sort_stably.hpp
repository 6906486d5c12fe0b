#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace stowage {

/// Sorts a list; of equal elements, the first stays first. (clang rejects std::stable_sort of libstdc++ 12, which uses
/// a function that C++20 deprecates.) O(n log n).
template <class T, class Less>
void sort_stably(std::vector<T>& list, Less less) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (less(list[a], list[b])) return true;
    return !less(list[b], list[a]) && a < b;
  });
  std::vector<T> sorted;
  sorted.reserve(list.size());
  for (const std::size_t at : order) sorted.push_back(std::move(list[at]));
  list = std::move(sorted);
}

}  // namespace stowage
