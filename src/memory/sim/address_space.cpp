#include "memory/sim/address_space.hpp"

#include <algorithm>
#include <iterator>

#include "memory/integers.hpp"

namespace stowage::memory {
namespace {

// [bit 62 set | 16 bits of device | 44 bits of offset]: above every address that a 64-bit system gives to a process.
constexpr std::uintptr_t kMark = std::uintptr_t{1} << 62;
constexpr unsigned kDeviceShift = 44;
constexpr std::uintptr_t kDeviceMask = 0xffff;
constexpr Bytes kSpace{std::int64_t{1} << kDeviceShift};

std::uintptr_t start_of(DeviceId device) { return kMark | (device.index() & kDeviceMask) << kDeviceShift; }

}  // namespace

SimAddressSpace::SimAddressSpace(DeviceId device) : device_(device) {}

std::optional<DeviceId> SimAddressSpace::device_of(const std::byte* address) {
  if ((to_uintptr(address) & kMark) == 0) return std::nullopt;
  return DeviceId(to_uintptr(address) >> kDeviceShift & kDeviceMask);
}

std::optional<std::byte*> SimAddressSpace::take(Bytes size, Bytes alignment) {
  if (size > kSpace) return std::nullopt;
  const Bytes offset = free_.allocate(size, alignment);
  if (offset + size > kSpace) {
    free_.release({offset, offset + size});
    return std::nullopt;
  }
  return reinterpret_cast<std::byte*>(start_of(device_) + to_uintptr(offset));
}

void SimAddressSpace::give_back(std::byte* address, Bytes size) {
  const Bytes offset(static_cast<std::int64_t>(to_uintptr(address) - start_of(device_)));
  free_.release({offset, offset + size});
}

void SimAddressSpace::map(std::byte* address, SimMapping mapping) {
  mappings_.emplace(to_uintptr(address), std::make_shared<SimMapping>(std::move(mapping)));
}

void SimAddressSpace::unmap(std::byte* address, Bytes size) {
  mappings_.erase(mappings_.lower_bound(to_uintptr(address)),
                  mappings_.lower_bound(to_uintptr(address) + to_uintptr(size)));
}

bool SimAddressSpace::is_pending(const std::byte* address, Bytes size) const {
  return std::any_of(mappings_.lower_bound(to_uintptr(address)),
                     mappings_.lower_bound(to_uintptr(address) + to_uintptr(size)),
                     [](const auto& entry) { return entry.second->pending > 0; });
}

std::optional<std::vector<SimExtent>> SimAddressSpace::find(const std::byte* address, Bytes size) const {
  std::vector<SimExtent> result;
  for (Bytes done; done < size;) {
    std::optional<SimExtent> next = find(address + done.value());
    if (!next) return std::nullopt;
    next->size = std::min(next->size, size - done);
    done += next->size;
    result.push_back(*std::move(next));
  }
  return result;
}

std::optional<SimExtent> SimAddressSpace::find(const std::byte* address) const {
  const auto after = mappings_.upper_bound(to_uintptr(address));
  if (after == mappings_.begin()) return std::nullopt;
  const auto& [start, mapping] = *std::prev(after);
  const std::uintptr_t offset = to_uintptr(address) - start;
  if (offset >= to_uintptr(mapping->size)) return std::nullopt;
  const Bytes before(static_cast<std::int64_t>(offset));
  return SimExtent{mapping, before, mapping->size - before};
}

}  // namespace stowage::memory
