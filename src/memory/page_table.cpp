#include "memory/page_table.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "memory/integers.hpp"

namespace stowage::memory {
namespace {

Error invalid(std::string message) { return {ErrorCode::invalid, std::move(message), {}}; }

Error unknown(PhysicalId physical) {
  return invalid(fmt::format("there is no physical memory {}", static_cast<std::uint64_t>(physical)));
}

}  // namespace

Status PageTable::check_size(Bytes size) const {
  if (size > Bytes(0) && is_multiple(size)) return Done{};
  return invalid(
      fmt::format("{} bytes are not a positive multiple of the granularity, {}", size.value(), granularity_.value()));
}

Status PageTable::check_address(const std::byte* address) const {
  if (to_uintptr(address) % to_uintptr(granularity_) == 0) return Done{};
  return invalid(
      fmt::format("address {} is not a multiple of the granularity, {}", fmt::ptr(address), granularity_.value()));
}

void PageTable::reserve(const std::byte* address, Bytes size) { reservations_.emplace(to_uintptr(address), size); }

Status PageTable::check_free(const std::byte* address, Bytes size) const {
  const auto reservation = reservations_.find(to_uintptr(address));
  if (reservation == reservations_.end() || reservation->second != size) {
    return invalid(fmt::format("{} bytes at {} are not a reserved range", size.value(), fmt::ptr(address)));
  }
  if (is_mapped_in(to_uintptr(address), size)) {
    return invalid(
        fmt::format("something is still mapped into the {} bytes reserved at {}", size.value(), fmt::ptr(address)));
  }
  return Done{};
}

void PageTable::free(const std::byte* address) { reservations_.erase(to_uintptr(address)); }

PhysicalId PageTable::create(Bytes size) {
  const PhysicalId id = next_;
  physicals_.emplace(id, Physical{.size = size});
  next_ = PhysicalId{static_cast<std::uint64_t>(id) + 1};
  return id;
}

Status PageTable::check_release(PhysicalId physical) const {
  const auto found = physicals_.find(physical);
  if (found == physicals_.end() || found->second.released) return unknown(physical);
  return Done{};
}

bool PageTable::release(PhysicalId physical) {
  const auto found = physicals_.find(physical);
  found->second.released = true;
  if (found->second.mappings > 0) return false;
  physicals_.erase(found);
  return true;
}

Status PageTable::check_map(const std::byte* address, PhysicalId physical, Bytes offset, Bytes size) const {
  STOWAGE_TRY_STATUS(check_size(size));
  STOWAGE_TRY_STATUS(check_address(address));
  STOWAGE_TRY_STATUS(check_release(physical));
  const Bytes whole = physicals_.find(physical)->second.size;
  if (offset < Bytes(0) || !is_multiple(offset) || size > whole || offset > whole - size) {
    return invalid(
        fmt::format("{} bytes from offset {} are not a part, in multiples of {}, of physical memory of {} bytes",
                    size.value(), offset.value(), granularity_.value(), whole.value()));
  }
  if (!is_reserved(to_uintptr(address), size)) {
    return invalid(fmt::format("{} bytes at {} are not within one reserved range", size.value(), fmt::ptr(address)));
  }
  if (is_mapped_in(to_uintptr(address), size)) {
    return invalid(fmt::format("something is already mapped into the {} bytes at {}", size.value(), fmt::ptr(address)));
  }
  return Done{};
}

Status PageTable::check_map_all(const std::byte* address, std::span<const PhysicalRange> ranges) const {
  Bytes whole;
  for (const PhysicalRange& range : ranges) {
    STOWAGE_TRY_STATUS(check_map(address + whole.value(), range.physical, range.offset, range.size));
    whole += range.size;
  }
  if (ranges.empty() || is_reserved(to_uintptr(address), whole)) return Done{};
  return invalid(fmt::format("{} bytes at {} are not within one reserved range", whole.value(), fmt::ptr(address)));
}

void PageTable::map(const std::byte* address, PhysicalId physical, Bytes size) {
  mappings_.emplace(to_uintptr(address), Mapping{size, physical});
  ++physicals_.find(physical)->second.mappings;
}

Status PageTable::check_unmap(const std::byte* address, Bytes size) const {
  STOWAGE_TRY_STATUS(check_size(size));
  Bytes missing = size;
  for (auto mapping = mappings_.find(to_uintptr(address)); mapping != mappings_.end(); ++mapping) {
    if (mapping->first != to_uintptr(address) + to_uintptr(size - missing) || mapping->second.size > missing) break;
    missing -= mapping->second.size;
    if (missing == Bytes(0)) return Done{};
  }
  return invalid(fmt::format("{} bytes at {} do not consist of whole mappings", size.value(), fmt::ptr(address)));
}

std::vector<PhysicalId> PageTable::unmap(const std::byte* address, Bytes size) {
  std::vector<PhysicalId> gone;
  const auto first = mappings_.find(to_uintptr(address));
  const auto last = mappings_.lower_bound(to_uintptr(address) + to_uintptr(size));
  for (auto mapping = first; mapping != last; ++mapping) {
    const auto physical = physicals_.find(mapping->second.physical);
    if (--physical->second.mappings > 0 || !physical->second.released) continue;
    gone.push_back(physical->first);
    physicals_.erase(physical);
  }
  mappings_.erase(first, last);
  return gone;
}

std::vector<std::pair<std::uintptr_t, Bytes>> PageTable::mappings() const {
  std::vector<std::pair<std::uintptr_t, Bytes>> list;
  for (const auto& [address, mapping] : mappings_) list.emplace_back(address, mapping.size);
  return list;
}

std::vector<std::pair<std::uintptr_t, Bytes>> PageTable::reservations() const {
  return {reservations_.begin(), reservations_.end()};
}

bool PageTable::is_reserved(Address address, Bytes size) const {
  auto reservation = reservations_.upper_bound(address);
  if (reservation == reservations_.begin()) return false;
  --reservation;
  const Address before = address - reservation->first;
  const Address whole = to_uintptr(reservation->second);
  return before < whole && to_uintptr(size) <= whole - before;
}

/// Precondition: the range does not wrap around. A reserved range never does.
bool PageTable::is_mapped_in(Address address, Bytes size) const {
  const auto after = mappings_.lower_bound(address + to_uintptr(size));
  if (after == mappings_.begin()) return false;
  const auto& [start, mapping] = *std::prev(after);
  return start + to_uintptr(mapping.size) > address;
}

}  // namespace stowage::memory
