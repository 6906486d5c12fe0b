#pragma once

#include <map>
#include <vector>

#include "runtime/heap/expandable_arena.hpp"
#include "runtime/heap/idle_map.hpp"

namespace stowage::runtime {

/// A page, and how many bytes are idle at its two ends.
struct PageUse {
  std::byte* address = nullptr;
  Bytes size;
  Bytes prefix;  ///< Idle bytes at its start; equals `size` if the whole page is idle.
  Bytes suffix;  ///< Idle bytes up to its end.
  Bytes extent;  ///< If the page is idle: size of the idle run that contains it.

  [[nodiscard]] bool idle() const { return prefix == size; }
};

using PagesByAddress = std::map<std::byte*, PageId>;

/// The idle bytes of every page. Valid as long as nothing is allocated or freed.
class PageUses {
 public:
  /// O(runs + pages).
  PageUses(const IdleMap& idle, const PagesByAddress& pages, const ExpandableArena& arena);

  [[nodiscard]] const PageUse& operator[](PageId id) const { return uses_[id.index()]; }
  /// Idle pages, those in the largest idle runs first, and in address order within a run. So a stitch consists of few
  /// pieces, and small leftovers stay where they are.
  [[nodiscard]] std::vector<PageId> idle() const;
  [[nodiscard]] Bytes idle_bytes() const;

 private:
  void look_at(const IdleRun& run, std::size_t& next);

  std::vector<PageUse> uses_;  ///< Indexed by page id.
  std::vector<PageId> ids_;    ///< In address order.
};

}  // namespace stowage::runtime
