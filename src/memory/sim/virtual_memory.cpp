#include <fmt/format.h>

#include "memory/interface/errors.hpp"
#include "memory/sim/state.hpp"

namespace stowage::memory {
namespace {

class SimVirtualMemory final : public VirtualMemory {
 public:
  explicit SimVirtualMemory(SimState& state) : state_(state) {}

  [[nodiscard]] DeviceId device() const override { return state_.options.id; }
  [[nodiscard]] Bytes granularity() const override { return state_.options.granularity; }

  Result<std::byte*> reserve(Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::reserve, size));
    STOWAGE_TRY_STATUS(state_.judge("reserve", state_.pages.check_size(size)));
    const std::optional<std::byte*> address = state_.addresses.take(size, granularity());
    if (!address) return out_of_memory(state_.options.name, size, "no addresses left");
    state_.pages.reserve(*address, size);
    return *address;
  }

  Status free(std::byte* address, Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(check_own("free", address));
    STOWAGE_TRY_STATUS(state_.judge("free", state_.pages.check_free(address, size)));
    state_.pages.free(address);
    state_.addresses.give_back(address, size);
    return Done{};
  }

  Result<PhysicalId> create(Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::create, size));
    STOWAGE_TRY_STATUS(state_.judge("create", state_.pages.check_size(size)));
    STOWAGE_TRY_STATUS(state_.take(size));
    const PhysicalId id = state_.pages.create(size);
    state_.physicals.emplace(id, std::make_shared<SparseBytes>(size, kUnwritten));
    return id;
  }

  Status release(PhysicalId physical) override {
    const std::lock_guard lock(state_.mutex);
    if (!state_.pages.check_release(physical)) return refuse(physical);
    if (state_.pages.release(physical)) give_back(physical);
    return Done{};
  }

  Status map(std::byte* address, PhysicalId physical, Bytes offset, Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::map, size));
    STOWAGE_TRY_STATUS(check_own("map", address));
    if (!state_.pages.check_release(physical)) return refuse(physical);
    STOWAGE_TRY_STATUS(state_.judge("map", state_.pages.check_map(address, physical, offset, size)));
    state_.pages.map(address, physical, size);
    state_.addresses.map(address, {.bytes = state_.physicals.find(physical)->second, .offset = offset, .size = size});
    return Done{};
  }

  Status map_all(std::byte* address, std::span<const PhysicalRange> ranges) override {
    if (ranges.empty()) return Done{};
    {
      const std::lock_guard lock(state_.mutex);
      STOWAGE_TRY_STATUS(check_own("map_all", address));
      STOWAGE_TRY_STATUS(state_.judge("map_all", state_.pages.check_map_all(address, ranges)));
    }
    return VirtualMemory::map_all(address, ranges);
  }

  Status unmap(std::byte* address, Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::unmap, size));
    STOWAGE_TRY_STATUS(check_own("unmap", address));
    STOWAGE_TRY_STATUS(state_.judge("unmap", state_.pages.check_unmap(address, size)));
    if (state_.addresses.is_pending(address, size)) {
      return state_.refuse(
          fmt::format("unmap: {} bytes at {} are in use by pending work", size.value(), fmt::ptr(address)));
    }
    state_.addresses.unmap(address, size);
    for (const PhysicalId gone : state_.pages.unmap(address, size)) give_back(gone);
    return Done{};
  }

 private:
  Status check_own(std::string_view what, const std::byte* address) {
    if (SimAddressSpace::device_of(address) == device()) return Done{};
    return state_.refuse_foreign(what, address);
  }

  Error refuse(PhysicalId physical) {
    return state_.refuse_foreign("physical memory", static_cast<std::uint64_t>(physical));
  }

  void give_back(PhysicalId physical) {
    const auto found = state_.physicals.find(physical);
    state_.give_back(found->second->size());
    state_.physicals.erase(found);
  }

  SimState& state_;
};

}  // namespace

std::unique_ptr<VirtualMemory> make_sim_virtual_memory(SimState& state) {
  return std::make_unique<SimVirtualMemory>(state);
}

}  // namespace stowage::memory
