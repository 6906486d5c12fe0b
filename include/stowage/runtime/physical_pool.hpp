#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"

namespace stowage {

/// A piece of physical memory that is mapped as a whole.
struct Page {
  PhysicalId physical{};
  Bytes size;

  friend bool operator==(const Page&, const Page&) = default;
};

/// The physical memory of one device, for any number of arenas: pages come from the device, wait
/// here while nobody needs them, and go back when told to. The memory must outlive the pool, and
/// the pool whatever has pages of it. Whoever frees a page sees to it that no work uses it any
/// more; it may still be mapped. Thread-safe.
class STOWAGE_EXPORT PhysicalPool {
 public:
  struct Counts {
    Bytes created;  ///< Of all pages there are, idle ones too.
    Bytes created_peak;
    Bytes idle;
    std::uint64_t creates = 0;
    std::uint64_t releases = 0;
  };

  /// `limit` bounds all pages together; absent: only the device's own limit.
  explicit PhysicalPool(VirtualMemory& memory, std::optional<Bytes> limit = {});
  /// Every page must be back. Idle ones are released.
  ~PhysicalPool();
  PhysicalPool(const PhysicalPool&) = delete;
  PhysicalPool& operator=(const PhysicalPool&) = delete;

  [[nodiscard]] VirtualMemory& memory() const { return memory_; }

  /// A page of exactly that size, a multiple of the memory's granularity: an idle one, the last one
  /// freed first, or a new one. Before it fails for lack of memory it releases idle pages of other
  /// sizes, as many as it takes, unless they could not help. `out_of_memory` names the figures;
  /// another size is `invalid`.
  Result<Page> allocate(Bytes size);
  /// Cannot fail. O(log n).
  void free(Page page);
  /// Releases idle pages, the largest first, until at least `wanted` bytes are back with the
  /// device, none is left or the device fails; says how many.
  Bytes trim(Bytes wanted = kMaxBytes);

  /// What the limit leaves, idle pages included; nothing without a limit.
  [[nodiscard]] std::optional<Bytes> room() const;
  /// Says that pages of that many bytes never come back: their device failed.
  void write_off(Bytes size);

  [[nodiscard]] Counts counts() const;
  void reset_peaks();

 private:
  /// Checks the size and, where there is a limit, gets below it.
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
