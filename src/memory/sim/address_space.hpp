#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/interface/free_list.hpp"
#include "memory/sim/sparse_bytes.hpp"
#include "stowage/memory.hpp"

namespace stowage::memory {

/// Simulated memory that is mapped at an address.
struct SimMapping {
  std::shared_ptr<SparseBytes> bytes;
  Bytes offset;             ///< Into `bytes`.
  Bytes size;               ///< Counted from the address.
  std::size_t pending = 0;  ///< Pieces of unfinished work that use it.
};

/// A part of a mapping.
struct SimExtent {
  std::shared_ptr<SimMapping> mapping;
  Bytes offset;  ///< Into the mapping.
  Bytes size;
};

/// The addresses of one simulated device. An address contains the device's number and lies outside what any host uses,
/// so that every device recognises the addresses of the others, and the host faults when it touches one. Allocated by
/// best fit, deterministically, and reused after `give_back`. Not thread-safe.
class SimAddressSpace {
 public:
  explicit SimAddressSpace(DeviceId device);

  /// The device that the address belongs to; nothing for an address of the host.
  [[nodiscard]] static std::optional<DeviceId> device_of(const std::byte* address);

  /// Addresses for `size` bytes, or nothing when none are left.
  [[nodiscard]] std::optional<std::byte*> take(Bytes size, Bytes alignment);
  void give_back(std::byte* address, Bytes size);

  /// Precondition: nothing is mapped in the range.
  void map(std::byte* address, SimMapping mapping);
  /// Precondition: the range consists of whole mappings.
  void unmap(std::byte* address, Bytes size);
  /// Whether unfinished work uses a mapping that begins in the range.
  [[nodiscard]] bool is_pending(const std::byte* address, Bytes size) const;

  /// The memory behind a range, mapping by mapping; nothing if any byte is not mapped.
  [[nodiscard]] std::optional<std::vector<SimExtent>> find(const std::byte* address, Bytes size) const;
  /// The mapping that contains the address, from the address to its end.
  [[nodiscard]] std::optional<SimExtent> find(const std::byte* address) const;

 private:
  DeviceId device_;
  FreeList free_;
  std::map<std::uintptr_t, std::shared_ptr<SimMapping>> mappings_;
};

}  // namespace stowage::memory
