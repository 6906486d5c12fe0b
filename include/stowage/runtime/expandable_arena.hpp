#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {

using SlotId = Id<struct SlotList>;
using ViewId = Id<struct ViewList>;

/// Pages at addresses that never change. Each page has a *slot*, in a reserved range of addresses that grows with it; a *view*
/// shows pages that lie apart once more, one behind the other, in a range of its own. So whatever idle pages there are can serve
/// one large request, and nothing ever has to be copied.
///
/// Knows nothing of who uses which bytes: that a page is used through one address at a time, and that nothing uses addresses that
/// are taken away, is the caller's matter. A call that fails changes nothing. The pool must outlive the arena. Thread-safe.
class ExpandableArena {
 public:
  struct Options {
    Bytes range{std::int64_t{256} << 30};  ///< Addresses reserved at a time; halved as long as the system refuses.
  };
  /// Calls to the memory.
  struct Counts {
    std::uint64_t maps = 0;
    std::uint64_t unmaps = 0;
    std::uint64_t access_calls = 0;
  };

  explicit ExpandableArena(PhysicalPool& pool) : ExpandableArena(pool, {}) {}
  ExpandableArena(PhysicalPool& pool, Options options);
  /// Takes everything away and gives the pages back to the pool.
  ~ExpandableArena();
  ExpandableArena(const ExpandableArena&) = delete;
  ExpandableArena& operator=(const ExpandableArena&) = delete;

  [[nodiscard]] PhysicalPool& pool() const { return pool_; }

  /// Reserves the first addresses, for a page of that size at least. Fails where the system has none to give.
  Status prepare(Bytes page);

  /// Gives a page a slot: behind the last one, or where one was removed. The page is the arena's then. Fails with
  /// `out_of_memory` for lack of addresses, and as `VirtualMemory::map` does.
  Result<SlotId> add(Page page);
  /// Takes a page out again; it is the caller's then. It must be in no view.
  Result<Page> remove(SlotId slot);

  /// Shows the pages of these slots one behind the other. Room for as many bytes again is kept behind them.
  Result<ViewId> stitch(std::span<const SlotId> slots);
  /// Shows another page at a position of a view, of the same size. Where the device fails twice over, the view ends there.
  Status replace(ViewId view, std::size_t position, SlotId slot);
  /// Shows one more page behind the others. Fails with `unsupported` where no room is left.
  Status append(ViewId view, SlotId slot);
  Status unstitch(ViewId view);

  [[nodiscard]] std::byte* address(SlotId slot) const;
  [[nodiscard]] Page page(SlotId slot) const;
  [[nodiscard]] std::byte* address(ViewId view) const;
  [[nodiscard]] Bytes room(ViewId view) const;  ///< Addresses that it has in all.
  [[nodiscard]] std::vector<SlotId> slots(ViewId view) const;

  [[nodiscard]] Counts counts() const;
  void reset_counts();

 private:
  struct Range {
    std::byte* address = nullptr;
    Bytes size;
  };
  struct Slot {
    std::byte* address = nullptr;
    Page page;
  };
  struct View {
    Range range;
    std::vector<SlotId> slots;
  };

  Result<std::byte*> find_addresses(Bytes size);
  Status reserve_range(Bytes least);
  void give_back_addresses(std::byte* address, Bytes size);
  Status map(std::byte* address, const Page& page);
  Status unmap(std::byte* address, Bytes size);
  Status map_all(std::byte* address, std::span<const SlotId> slots);
  void forget(View& view);
  void cut(View& view, std::size_t position);
  [[nodiscard]] Bytes size_of(std::span<const SlotId> slots) const;

  PhysicalPool& pool_;
  VirtualMemory& memory_;
  const Options options_;
  mutable std::mutex mutex_;
  std::vector<Range> ranges_;
  std::map<std::byte*, Bytes> vacant_;  ///< Reserved addresses without a slot, merged.
  std::vector<Slot> slots_;
  std::vector<SlotId> free_slots_;
  std::vector<View> views_;
  std::vector<ViewId> free_views_;
  Counts counts_;
};

}  // namespace stowage
