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

/// Pages at addresses that never change. Each page has a *page address* in a reserved range that grows with the pages.
/// A *stitch* is a second range of addresses that maps scattered pages again, one after the other. So any set of idle
/// pages can serve one large request, and nothing ever has to be copied.
///
/// The arena does not know who uses which bytes. The caller makes sure that a page is used through one address at a
/// time, and that nothing uses addresses that are being unmapped. A call that fails changes nothing, except where
/// noted. The pool must outlive the arena. Thread-safe.
class ExpandableArena {
 public:
  struct Options {
    Bytes range{std::int64_t{256} << 30};  ///< Addresses reserved at a time; halved while the system refuses.
  };
  /// Number of calls to the virtual memory.
  struct Counts {
    std::uint64_t maps = 0;
    std::uint64_t unmaps = 0;
    std::uint64_t access_calls = 0;
  };

  explicit ExpandableArena(PhysicalPool& pool) : ExpandableArena(pool, {}) {}
  ExpandableArena(PhysicalPool& pool, Options options);
  /// Unmaps everything and returns the pages to the pool.
  ~ExpandableArena();
  ExpandableArena(const ExpandableArena&) = delete;
  ExpandableArena& operator=(const ExpandableArena&) = delete;

  [[nodiscard]] PhysicalPool& pool() const { return pool_; }

  /// Reserves the first range, large enough for at least one page of that size. Fails if the system has no addresses.
  Status prepare(Bytes page);

  /// Maps a page at its page address: after the last page, or in a gap that a removed page left. The arena then owns
  /// the page. Fails with `out_of_memory` if there are no addresses, and as `VirtualMemory::map` does.
  Result<PageId> add(Page page);
  /// Removes a page and returns it to the caller. The page must not be in any stitch.
  Result<Page> remove(PageId page);

  /// Maps these pages again, one after the other. The reserved range is twice as long, so that `append` has room.
  Result<StitchId> stitch(std::span<const PageId> pages);
  /// Replaces the page at a position of a stitch by another page of the same size. If the new page cannot be mapped and
  /// the old one cannot be mapped back, the stitch is truncated at that position.
  Status replace(StitchId stitch, std::size_t position, PageId page);
  /// Maps one more page at the end. Fails with `unsupported` if the stitch has no room left.
  Status append(StitchId stitch, PageId page);
  Status unstitch(StitchId stitch);

  [[nodiscard]] std::byte* address(PageId page) const;
  [[nodiscard]] Page page(PageId page) const;
  [[nodiscard]] std::byte* address(StitchId stitch) const;
  [[nodiscard]] Bytes room(StitchId stitch) const;  ///< Size of its reserved range.
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
  std::map<std::byte*, Bytes> vacant_;  ///< Reserved addresses without a page; adjacent ranges are merged.
  std::vector<PlacedPage> pages_;
  std::vector<PageId> free_ids_;
  std::vector<Stitch> stitches_;
  std::vector<StitchId> free_stitches_;
  Counts counts_;
};

}  // namespace stowage::runtime
