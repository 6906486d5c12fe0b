#include "pack/index/time_index.hpp"

#include <algorithm>

namespace stowage::pack {

/// Calls `change` with the list of each node that makes up the span.
template <class Change>
void TimeIndex::change_nodes(TimeSpan span, Change&& change) {
  for (std::size_t left = leaves_ + span.lower, right = leaves_ + span.upper; left < right; left >>= 1, right >>= 1) {
    if ((left & 1) == 1) change(nodes_[left++]);
    if ((right & 1) == 1) change(nodes_[--right]);
  }
}

void TimeIndex::insert(std::uint32_t item, TimeSpan span) {
  change_nodes(span, [item](Items& items) { items.push_back(item); });
  std::uint32_t& head = begins_[span.lower];
  next_[item] = head;
  before_[item] = kNone;
  if (head != kNone) before_[head] = item;
  head = item;
}

void TimeIndex::erase(std::uint32_t item, TimeSpan span) {
  change_nodes(span, [item](Items& items) {
    const auto found = std::find(items.begin(), items.end(), item);
    STOWAGE_CHECK(found != items.end(), "the item is not in the index with this span");
    *found = items.back();
    items.pop_back();
  });
  (before_[item] == kNone ? begins_[span.lower] : next_[before_[item]]) = next_[item];
  if (next_[item] != kNone) before_[next_[item]] = before_[item];
}

}  // namespace stowage::pack
