#pragma once

#include <cstdint>
#include <vector>

#include "runtime/heap/span.hpp"

namespace stowage::runtime {

/// Maps the addresses that users hold to their spans. Open addressing with linear probing, at most half full. Deletion
/// moves entries back, so there are no tombstones to clean up. Not thread-safe.
class AddressTable {
 public:
  AddressTable() : entries_(kLeast) {}

  void insert(Span* span) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    std::size_t at = home(span->shown);
    while (entries_[at] != nullptr) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = span;
    ++count_;
  }

  /// Null if there is no such span.
  [[nodiscard]] Span* find(const std::byte* shown) const {
    for (std::size_t at = home(shown); entries_[at] != nullptr; at = (at + 1) & (entries_.size() - 1)) {
      if (entries_[at]->shown == shown) return entries_[at];
    }
    return nullptr;
  }

  /// Finds and removes; null if there is no such span.
  Span* take(const std::byte* shown);

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  static constexpr std::size_t kLeast = 1024;

  /// Addresses are multiples of several hundred bytes and often equally spaced. The multiplication spreads them; its
  /// upper bits are the best mixed.
  [[nodiscard]] std::size_t home(const std::byte* shown) const {
    const auto key = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(shown)) >> 6;
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 32) & (entries_.size() - 1);
  }
  void grow();

  std::vector<Span*> entries_;
  std::size_t count_ = 0;
};

}  // namespace stowage::runtime
