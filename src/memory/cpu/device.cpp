#include <cstring>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "memory/cpu/cpu.hpp"

namespace stowage {
namespace memory {
namespace {

/// Work on streams completes at once, so that the only state of an event is whether it exists.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(std::unique_ptr<BufferType> type) : type_(std::move(type)), virtual_memory_(make_memfd_memory()) {}

  [[nodiscard]] DeviceId id() const override { return kHost; }
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] BufferType& buffer_type() override { return *type_; }
  [[nodiscard]] VirtualMemory* virtual_memory() override { return virtual_memory_.get(); }

  Status copy(StreamId, std::byte* to, const std::byte* from, Bytes size) override {
    if (size == Bytes(0)) return Done{};
    if (size < Bytes(0) || to == nullptr || from == nullptr) {
      return Error{ErrorCode::invalid,
                   fmt::format("cpu: cannot copy {} bytes from {} to {}", size.value(), fmt::ptr(from), fmt::ptr(to)),
                   {}};
    }
    std::memmove(to, from, static_cast<std::size_t>(size.value()));
    return Done{};
  }

  Status fill(StreamId, std::byte* to, std::uint8_t value, Bytes size) override {
    if (size == Bytes(0)) return Done{};
    if (size < Bytes(0) || to == nullptr) {
      return Error{ErrorCode::invalid, fmt::format("cpu: cannot fill {} bytes at {}", size.value(), fmt::ptr(to)), {}};
    }
    std::memset(to, value, static_cast<std::size_t>(size.value()));
    return Done{};
  }

  Result<EventId> record(StreamId) override {
    const std::lock_guard lock(mutex_);
    const EventId event{next_event_++};
    events_.insert(event);
    return event;
  }

  Status wait(StreamId, EventId event) override { return check(event); }

  [[nodiscard]] Result<bool> is_complete(EventId event) override {
    STOWAGE_TRY_STATUS(check(event));
    return true;
  }

  Status synchronize(StreamId) override { return Done{}; }

  void forget(EventId event) override {
    const std::lock_guard lock(mutex_);
    events_.erase(event);
  }

 private:
  Status check(EventId event) {
    const std::lock_guard lock(mutex_);
    if (events_.contains(event)) return Done{};
    return Error{ErrorCode::invalid, fmt::format("cpu: there is no event {}", static_cast<std::uint64_t>(event)), {}};
  }

  std::unique_ptr<BufferType> type_;
  std::unique_ptr<VirtualMemory> virtual_memory_;
  std::mutex mutex_;
  std::set<EventId> events_;
  std::uint64_t next_event_ = 1;
};

}  // namespace
}  // namespace memory

Device& cpu_device() {
  // Never destroyed, because static objects may own buffers, and their order of destruction is unknown.
  static auto& device = *new memory::CpuDevice(make_cpu_buffer_type("cpu", {}).value());
  return device;
}

}  // namespace stowage
