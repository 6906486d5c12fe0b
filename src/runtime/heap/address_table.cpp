#include "runtime/heap/address_table.hpp"

#include <utility>

namespace stowage::runtime {

Span* AddressTable::take(const std::byte* shown) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = home(shown);
  while (entries_[at] != nullptr && entries_[at]->shown != shown) at = (at + 1) & mask;
  Span* const found = entries_[at];
  if (found == nullptr) return nullptr;
  --count_;
  // Backward shift: each later entry of the cluster whose home is at or before the gap moves into the gap.
  for (std::size_t next = (at + 1) & mask; entries_[next] != nullptr; next = (next + 1) & mask) {
    const std::size_t distance = (next - home(entries_[next]->shown)) & mask;
    if (distance < ((next - at) & mask)) continue;
    entries_[at] = entries_[next];
    at = next;
  }
  entries_[at] = nullptr;
  return found;
}

void AddressTable::grow() {
  std::vector<Span*> old(2 * entries_.size());
  std::swap(old, entries_);
  count_ = 0;
  for (Span* const span : old) {
    if (span != nullptr) insert(span);
  }
}

}  // namespace stowage::runtime
