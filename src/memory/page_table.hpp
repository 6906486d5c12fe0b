#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::memory {

/// The rules of `VirtualMemory` without the memory: which ranges are reserved, what physical memory there is, what is
/// mapped where.
///
/// Every change comes in two calls: a `check_…` that says `invalid` and why, and the change itself, whose precondition
/// is that the check passed. Between them the backend makes its system calls, and when one of those fails the table is
/// as it was. O(log n) for n ranges and mappings, unmap O(log n) for each mapping that it takes away. Not thread-safe.
class PageTable {
 public:
  /// Ids of physical memory count up from `first`, so that several tables can be told apart by their ids.
  PageTable(Bytes granularity, PhysicalId first) : granularity_(granularity), next_(first) {}

  /// Of a range to reserve or of physical memory to create.
  [[nodiscard]] Status check_size(Bytes size) const;

  void reserve(const std::byte* address, Bytes size);
  [[nodiscard]] Status check_free(const std::byte* address, Bytes size) const;
  void free(const std::byte* address);

  PhysicalId create(Bytes size);
  [[nodiscard]] Status check_release(PhysicalId physical) const;
  /// Whether the memory is gone now: nothing maps it.
  bool release(PhysicalId physical);

  [[nodiscard]] Status check_map(const std::byte* address, PhysicalId physical, Bytes offset, Bytes size) const;
  /// Of ranges one right behind the other, together inside of one reserved range.
  [[nodiscard]] Status check_map_all(const std::byte* address, std::span<const PhysicalRange> ranges) const;
  void map(const std::byte* address, PhysicalId physical, Bytes size);
  [[nodiscard]] Status check_unmap(const std::byte* address, Bytes size) const;
  /// The physical memory that is gone now: released earlier, and mapped nowhere else.
  std::vector<PhysicalId> unmap(const std::byte* address, Bytes size);

  [[nodiscard]] Bytes granularity() const { return granularity_; }
  /// Precondition: there is such memory.
  [[nodiscard]] Bytes size_of(PhysicalId physical) const { return physicals_.find(physical)->second.size; }
  /// Where and how long, in the order of addresses.
  [[nodiscard]] std::vector<std::pair<std::uintptr_t, Bytes>> mappings() const;
  [[nodiscard]] std::vector<std::pair<std::uintptr_t, Bytes>> reservations() const;
  /// Reservations and physical memory, released but mapped memory included.
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
