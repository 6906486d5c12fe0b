#pragma once

#include <map>
#include <vector>

#include "runtime/heap/expandable_arena.hpp"
#include "runtime/heap/idle_map.hpp"

namespace stowage::runtime {

/// A page: where it lies, and how many bytes at both ends of it are idle.
struct PageUse {
  std::byte* address = nullptr;
  Bytes size;
  Bytes prefix;  ///< Idle bytes from its start on; all of it: the page is idle.
  Bytes suffix;  ///< Idle bytes up to its end.
  Bytes extent;  ///< Of the idle run that it lies in, if it is idle.

  [[nodiscard]] bool idle() const { return prefix == size; }
};

using PagesByAddress = std::map<std::byte*, PageId>;

/// What is idle of every page, for as long as nothing is allocated or freed.
class PageUses {
 public:
  /// O(runs + pages).
  PageUses(const IdleMap& idle, const PagesByAddress& pages, const ExpandableArena& arena);

  [[nodiscard]] const PageUse& operator[](PageId id) const { return uses_[id.index()]; }
  /// Idle pages; those of the largest idle runs first, in the order of addresses there. So a stitch is made of few
  /// pieces, and small remains stay where they are.
  [[nodiscard]] std::vector<PageId> idle() const;
  [[nodiscard]] Bytes idle_bytes() const;

 private:
  void look_at(const IdleRun& run, std::size_t& next);

  std::vector<PageUse> uses_;  ///< By the index of the id.
  std::vector<PageId> ids_;    ///< In the order of addresses.
};

}  // namespace stowage::runtime
