#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

using PageId = Id<struct PageList>;
using StitchId = Id<struct StitchList>;

/// Pages at addresses that never change. Each page has its *page address*, in a reserved range that grows with them; a
/// *stitch* is a range of addresses that shows scattered pages once more, one behind the other. So whatever idle pages
/// there are can serve one large request, and nothing ever has to be copied.
///
/// Knows nothing of who uses which bytes: that a page is used through one address at a time, and that nothing uses
/// addresses that are taken away, is the caller's matter. A call that fails changes nothing. The pool must outlive the
/// arena. Thread-safe.
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

  /// Gives a page its address: behind the last one, or where one was removed. The page is the arena's then. Fails with
  /// `out_of_memory` for lack of addresses, and as `VirtualMemory::map` does.
  Result<PageId> add(Page page);
  /// Takes a page out again; it is the caller's then. It must be in no stitch.
  Result<Page> remove(PageId page);

  /// Shows these pages one behind the other. Room for as many bytes again is kept behind them.
  Result<StitchId> stitch(std::span<const PageId> pages);
  /// Shows another page at a position of a stitch, of the same size. Where the device fails twice over, the stitch ends
  /// there.
  Status replace(StitchId stitch, std::size_t position, PageId page);
  /// Shows one more page behind the others. Fails with `unsupported` where no room is left.
  Status append(StitchId stitch, PageId page);
  Status unstitch(StitchId stitch);

  [[nodiscard]] std::byte* address(PageId page) const;
  [[nodiscard]] Page page(PageId page) const;
  [[nodiscard]] std::byte* address(StitchId stitch) const;
  [[nodiscard]] Bytes room(StitchId stitch) const;  ///< Addresses that it has in all.
  [[nodiscard]] std::vector<PageId> pages(StitchId stitch) const;

  [[nodiscard]] Counts counts() const;
  void reset_counts();

 private:
  struct Range {
    std::byte* address = nullptr;
    Bytes size;
  };
  struct PlacedPage {
    std::byte* address = nullptr;
    Page page;
  };
  struct Stitch {
    Range range;
    std::vector<PageId> pages;
  };

  Result<std::byte*> find_addresses(Bytes size);
  Status reserve_range(Bytes least);
  void give_back_addresses(std::byte* address, Bytes size);
  Status map(std::byte* address, const Page& page);
  Status unmap(std::byte* address, Bytes size);
  Status map_all(std::byte* address, std::span<const PageId> pages);
  void forget(Stitch& stitch);
  void cut(Stitch& stitch, std::size_t position);
  [[nodiscard]] Bytes size_of(std::span<const PageId> pages) const;

  PhysicalPool& pool_;
  VirtualMemory& memory_;
  const Options options_;
  mutable std::mutex mutex_;
  std::vector<Range> ranges_;
  std::map<std::byte*, Bytes> vacant_;  ///< Reserved addresses without a page, merged.
  std::vector<PlacedPage> pages_;
  std::vector<PageId> free_ids_;
  std::vector<Stitch> stitches_;
  std::vector<StitchId> free_stitches_;
  Counts counts_;
};

}  // namespace stowage::runtime
