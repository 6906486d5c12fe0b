#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/interface/free_list.hpp"
#include "memory/sim/sparse_bytes.hpp"
#include "stowage/memory.hpp"

namespace stowage::memory {

/// Bytes of simulated memory as they appear at an address.
struct SimMapping {
  std::shared_ptr<SparseBytes> bytes;
  Bytes offset;             ///< Into `bytes`.
  Bytes size;               ///< From the address on.
  std::size_t pending = 0;  ///< Pieces of unfinished work that use it.
};

/// A part of a mapping.
struct SimExtent {
  std::shared_ptr<SimMapping> mapping;
  Bytes offset;  ///< Into the mapping.
  Bytes size;
};

/// The addresses of one simulated device. They carry the device's number and are such as no host has, so that every
/// device knows the addresses of every other, and the host faults when it touches one. Handed out by best fit, the same
/// in every run, and used again when they were given back. Not thread-safe.
class SimAddressSpace {
 public:
  explicit SimAddressSpace(DeviceId device);

  /// The device whose addresses look like this one; nothing for the host's.
  [[nodiscard]] static std::optional<DeviceId> device_of(const std::byte* address);

  /// Addresses for `size` bytes, or nothing when there are none left.
  [[nodiscard]] std::optional<std::byte*> take(Bytes size, Bytes alignment);
  void give_back(std::byte* address, Bytes size);

  /// Precondition: nothing is mapped there.
  void map(std::byte* address, SimMapping mapping);
  /// Precondition: the range consists of whole mappings.
  void unmap(std::byte* address, Bytes size);
  /// Whether unfinished work uses a mapping that begins in the range.
  [[nodiscard]] bool is_pending(const std::byte* address, Bytes size) const;

  /// What lies behind a range, mapping by mapping; nothing if a byte of it is not mapped.
  [[nodiscard]] std::optional<std::vector<SimExtent>> find(const std::byte* address, Bytes size) const;
  /// The rest of the mapping that the address is in.
  [[nodiscard]] std::optional<SimExtent> find(const std::byte* address) const;

 private:
  DeviceId device_;
  FreeList free_;
  std::map<std::uintptr_t, std::shared_ptr<SimMapping>> mappings_;
};

}  // namespace stowage::memory
