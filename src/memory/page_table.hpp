#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::memory {

/// The rules of `VirtualMemory` as pure bookkeeping: which ranges are reserved, which physical memory exists, and what
/// is mapped where.
///
/// Every change takes two calls: a `check_…`, which fails with `invalid` and a reason, and the change itself, whose
/// precondition is that the check passed. The backend makes its system calls between the two; when one of them fails,
/// the table is unchanged. O(log n) for n ranges and mappings; unmap is O(log n) per mapping removed. Not thread-safe.
class PageTable {
 public:
  /// Ids of physical memory count up from `first`, so that the ids of several tables can be told apart.
  PageTable(Bytes granularity, PhysicalId first) : granularity_(granularity), next_(first) {}

  /// Checks the size of a range to reserve or of physical memory to create.
  [[nodiscard]] Status check_size(Bytes size) const;

  void reserve(const std::byte* address, Bytes size);
  [[nodiscard]] Status check_free(const std::byte* address, Bytes size) const;
  void free(const std::byte* address);

  PhysicalId create(Bytes size);
  [[nodiscard]] Status check_release(PhysicalId physical) const;
  /// Returns true if the memory is gone now, because nothing maps it.
  bool release(PhysicalId physical);

  [[nodiscard]] Status check_map(const std::byte* address, PhysicalId physical, Bytes offset, Bytes size) const;
  /// Checks ranges that are to be mapped one right after the other, all within one reserved range.
  [[nodiscard]] Status check_map_all(const std::byte* address, std::span<const PhysicalRange> ranges) const;
  void map(const std::byte* address, PhysicalId physical, Bytes size);
  [[nodiscard]] Status check_unmap(const std::byte* address, Bytes size) const;
  /// Returns the physical memory that is gone now: released earlier, and no longer mapped anywhere.
  std::vector<PhysicalId> unmap(const std::byte* address, Bytes size);

  [[nodiscard]] Bytes granularity() const { return granularity_; }
  /// Precondition: the memory exists.
  [[nodiscard]] Bytes size_of(PhysicalId physical) const { return physicals_.find(physical)->second.size; }
  /// Start and length of each, in order of address.
  [[nodiscard]] std::vector<std::pair<std::uintptr_t, Bytes>> mappings() const;
  [[nodiscard]] std::vector<std::pair<std::uintptr_t, Bytes>> reservations() const;
  /// The number of reservations and pieces of physical memory. Memory that is released but still mapped counts.
  [[nodiscard]] std::size_t live_objects() const { return reservations_.size() + physicals_.size(); }

 private:
  using Address = std::uintptr_t;
  struct Physical {
    Bytes size;
    std::size_t mappings = 0;
    bool released = false;
  };
  struct Mapping {
    Bytes size;
    PhysicalId physical;
  };

  [[nodiscard]] bool is_multiple(Bytes bytes) const { return is_aligned(bytes, granularity_); }
  [[nodiscard]] Status check_address(const std::byte* address) const;
  [[nodiscard]] bool is_reserved(Address address, Bytes size) const;
  [[nodiscard]] bool is_mapped_in(Address address, Bytes size) const;

  Bytes granularity_;
  PhysicalId next_;
  std::map<Address, Bytes> reservations_;
  std::map<Address, Mapping> mappings_;
  std::map<PhysicalId, Physical> physicals_;
};

}  // namespace stowage::memory
