#include "memory/sim/state.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "memory/interface/errors.hpp"

namespace stowage::memory {
namespace {

// Ids of events and physical memory contain the device's number in their upper bits.
constexpr unsigned kIdShift = 40;

std::uint64_t first_id(DeviceId device) { return static_cast<std::uint64_t>(device.index() + 1) << kIdShift | 1; }

}  // namespace

SimState::SimState(SimOptions given)
    : options(std::move(given)),
      addresses(options.id),
      pages(options.granularity, PhysicalId{first_id(options.id)}),
      next_event(first_id(options.id)) {}

Status SimState::enter(SimCall call, Bytes size) {
  if (!script.enter(call)) return Done{};
  if (call <= SimCall::map)
    return out_of_memory(options.name, size, fmt::format("this call of {} was scripted to fail", to_string(call)));
  return Error{
      ErrorCode::device, fmt::format("{}: this call of {} was scripted to fail", options.name, to_string(call)), {}};
}

Error SimState::refuse(std::string message) {
  violations.push_back(fmt::format("{}: {}", options.name, message));
  return {ErrorCode::invalid, violations.back(), {}};
}

Status SimState::judge(std::string_view what, Status status) {
  if (status) return status;
  return refuse(fmt::format("{}: {}", what, status.error().message));
}

Status SimState::take(Bytes size) {
  const Bytes limit = options.memory.value_or(kMaxBytes);
  if (size > limit - in_use) {
    return out_of_memory(options.name, size, fmt::format("{} of {} bytes are in use", in_use.value(), limit.value()));
  }
  in_use += size;
  peak = std::max(peak, in_use);
  return Done{};
}

Error SimState::refuse_foreign(std::string_view what, std::uint64_t id) {
  const std::uint64_t device = id >> kIdShift;
  const std::uint64_t own = options.id.index() + 1;
  if (device == own || device == 0) return refuse(fmt::format("{} {} does not exist", what, id));
  return refuse(fmt::format("{} {} belongs to device {}, not to device {}", what, id, device - 1, own - 1));
}

Error SimState::refuse_foreign(std::string_view what, const std::byte* address) {
  const std::optional<DeviceId> device = SimAddressSpace::device_of(address);
  if (!device) return refuse(fmt::format("{}: {} is not an address of this device", what, fmt::ptr(address)));
  if (*device == options.id) return refuse(fmt::format("{}: there is no memory at {}", what, fmt::ptr(address)));
  return refuse(fmt::format("{}: {} belongs to device {}, not to device {}", what, fmt::ptr(address), device->index(),
                            options.id.index()));
}

}  // namespace stowage::memory
