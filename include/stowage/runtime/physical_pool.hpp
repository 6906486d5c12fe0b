#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

namespace stowage {

/// Physical memory that is mapped as a whole.
struct Page {
  PhysicalId physical{};
  Bytes size;

  friend bool operator==(const Page&, const Page&) = default;
};

/// A pool of a device's physical memory, shared by any number of allocators. Free pages are cached
/// until `trim`. The virtual memory must outlive the pool, and the pool its users. A freed page
/// must no longer be in use by work, but may still be mapped. Thread-safe.
class STOWAGE_EXPORT PhysicalPool {
 public:
  struct Counts {
    Bytes created;  ///< All pages, including idle ones.
    Bytes created_peak;
    Bytes idle;
    std::uint64_t creates = 0;
    std::uint64_t releases = 0;
  };

  /// `limit` bounds all pages together; absent: only the device's own limit.
  explicit PhysicalPool(VirtualMemory& memory, std::optional<Bytes> limit = {});
  /// All pages must have been freed. Releases them.
  ~PhysicalPool();
  PhysicalPool(const PhysicalPool&) = delete;
  PhysicalPool& operator=(const PhysicalPool&) = delete;

  [[nodiscard]] VirtualMemory& memory() const { return memory_; }

  /// Allocates a page of exactly that size: the idle one that was freed last, or a new one. If
  /// memory is short, it releases as many idle pages of other sizes as needed, provided that this
  /// helps. Fails with `out_of_memory`, giving the figures, and with `invalid` for a size that is
  /// not a positive multiple of the granularity.
  Result<Page> allocate(Bytes size);
  /// Cannot fail. O(log n).
  void free(Page page);
  /// Releases idle pages, the largest first, until at least `wanted` bytes are released, none is
  /// left or the device fails. Returns the number of bytes.
  Bytes trim(Bytes wanted = kMaxBytes);

  /// The bytes left within the limit, idle pages included; nothing without a limit.
  [[nodiscard]] std::optional<Bytes> room() const;
  /// Removes pages of that size from the accounting: their device failed, and they will never be
  /// freed.
  void write_off(Bytes size);

  [[nodiscard]] Counts counts() const;
  void reset_peaks();

 private:
  /// Checks the size and, with a limit, releases idle pages to stay within it.
  Status make_room(Bytes size);
  Result<Page> create(Bytes size);
  Bytes trim_locked(Bytes wanted);

  VirtualMemory& memory_;
  const std::optional<Bytes> limit_;
  mutable std::mutex mutex_;
  std::map<Bytes, std::vector<PhysicalId>> idle_;  ///< By size.
  Counts counts_;
};

}  // namespace stowage
