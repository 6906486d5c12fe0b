#include <algorithm>

#include <fmt/format.h>

#include "memory/sim/state.hpp"

namespace stowage {
namespace memory {
namespace {

class SimDeviceImpl final : public SimDevice {
 public:
  explicit SimDeviceImpl(SimOptions options) : state_(std::move(options)), buffer_type_(make_sim_buffer_type(state_)) {
    if (state_.options.virtual_memory) virtual_memory_ = make_sim_virtual_memory(state_);
  }

  [[nodiscard]] DeviceId id() const override { return state_.options.id; }
  [[nodiscard]] std::string_view name() const override { return state_.options.name; }
  [[nodiscard]] BufferType& buffer_type() override { return *buffer_type_; }
  [[nodiscard]] std::optional<Bytes> free_memory() const override {
    const std::lock_guard lock(state_.mutex);
    if (!state_.options.memory) return std::nullopt;
    return *state_.options.memory - state_.in_use;
  }
  [[nodiscard]] VirtualMemory* virtual_memory() override { return virtual_memory_.get(); }

  Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::copy));
    if (size < Bytes(0)) return state_.refuse(fmt::format("copy: cannot copy {} bytes", size.value()));
    if (size == Bytes(0)) return Done{};
    STOWAGE_TRY(SimPlace target, place_of("copy", to, size));
    STOWAGE_TRY(SimPlace source, place_of("copy", const_cast<std::byte*>(from), size));  // only read
    state_.streams.submit(stream, {.to = std::move(target), .from = std::move(source), .size = size});
    return Done{};
  }

  Status fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::fill));
    if (size < Bytes(0)) return state_.refuse(fmt::format("fill: cannot fill {} bytes", size.value()));
    if (size == Bytes(0)) return Done{};
    STOWAGE_TRY(SimPlace target, place_of("fill", to, size));
    state_.streams.submit(stream, {.to = std::move(target), .size = size, .value = value});
    return Done{};
  }

  Status launch(StreamId stream, std::span<const std::byte* const> addresses) override {
    const std::lock_guard lock(state_.mutex);
    SimWork work;
    for (const std::byte* address : addresses) {
      std::optional<SimExtent> extent = state_.addresses.find(address);
      if (!extent) return state_.refuse_foreign("launch", address);
      work.uses.push_back(*std::move(extent));
    }
    state_.streams.submit(stream, std::move(work));
    return Done{};
  }

  Status launch_kernel(StreamId stream, SimKernel kernel) override {
    const std::lock_guard lock(state_.mutex);
    SimWork work;
    for (const auto& [ranges, operands] :
         {std::pair(&kernel.inputs, &work.inputs), std::pair(&kernel.outputs, &work.outputs)}) {
      for (const SimRange& range : *ranges) {
        if (range.size <= Bytes(0)) {
          operands->push_back({.place = {}, .size = Bytes(0)});
          continue;
        }
        STOWAGE_TRY(SimPlace place, place_of("launch", range.address, range.size));
        operands->push_back({.place = std::move(place), .size = range.size});
      }
    }
    if (kernel.compute) work.compute = keeping_sizes(std::move(kernel.compute));
    state_.streams.submit(stream, std::move(work));
    return Done{};
  }

  Result<EventId> record(StreamId stream) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::record));
    const EventId id{state_.next_event++};
    state_.events.emplace(id, state_.streams.record(stream));
    return id;
  }

  Status wait(StreamId stream, EventId event) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::wait));
    STOWAGE_TRY(std::shared_ptr<SimEvent> found, find(event));
    state_.streams.wait(stream, std::move(found));
    return Done{};
  }

  [[nodiscard]] Result<bool> is_complete(EventId event) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY(const std::shared_ptr<SimEvent> found, find(event));
    return found->complete;
  }

  Status synchronize(StreamId stream) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::synchronize));
    state_.streams.synchronize(stream);
    return Done{};
  }

  void forget(EventId event) override {
    const std::lock_guard lock(state_.mutex);
    state_.events.erase(event);
  }

  void finish(StreamId stream, std::size_t count) override {
    const std::lock_guard lock(state_.mutex);
    state_.streams.finish(stream, count);
  }

  void finish_all() override {
    const std::lock_guard lock(state_.mutex);
    state_.streams.finish_all();
  }

  void fail(SimCall call, std::uint64_t nth, std::uint64_t count) override {
    const std::lock_guard lock(state_.mutex);
    state_.script.fail(call, nth, count);
  }

  void fail_any(std::uint64_t nth) override {
    const std::lock_guard lock(state_.mutex);
    state_.script.fail_any(nth);
  }

  [[nodiscard]] std::uint64_t calls(SimCall call) const override {
    const std::lock_guard lock(state_.mutex);
    return state_.script.calls(call);
  }

  [[nodiscard]] std::uint64_t calls() const override {
    const std::lock_guard lock(state_.mutex);
    return state_.script.calls();
  }

  [[nodiscard]] Bytes in_use() const override {
    const std::lock_guard lock(state_.mutex);
    return state_.in_use;
  }

  [[nodiscard]] Bytes peak() const override {
    const std::lock_guard lock(state_.mutex);
    return state_.peak;
  }

  [[nodiscard]] std::size_t live_objects() const override {
    const std::lock_guard lock(state_.mutex);
    return state_.buffers + state_.pages.live_objects() + state_.events.size();
  }

  [[nodiscard]] std::vector<std::string> violations() const override {
    const std::lock_guard lock(state_.mutex);
    return state_.violations;
  }

 private:
  using Compute = decltype(SimKernel::compute);

  /// The result runs when the work finishes, with the mutex locked.
  Compute keeping_sizes(Compute compute) {
    return [this, compute = std::move(compute)](auto inputs, auto outputs) {
      std::vector<std::size_t> sizes;
      for (const std::vector<std::byte>& output : outputs) sizes.push_back(output.size());
      compute(inputs, outputs);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (outputs[i].size() == sizes[i]) continue;
        (void)state_.refuse(
            fmt::format("kernel: output {} has {} bytes, but the kernel returned {}", i, sizes[i], outputs[i].size()));
        outputs[i].resize(sizes[i]);
      }
    };
  }

  /// The memory at an address of this device or of the host. An address that belongs to no simulated device is the
  /// host's.
  Result<SimPlace> place_of(std::string_view who, std::byte* address, Bytes size) {
    if (address == nullptr) return state_.refuse(fmt::format("{}: a null address", who));
    if (!SimAddressSpace::device_of(address)) return SimPlace{.device = {}, .host = address};
    std::optional<std::vector<SimExtent>> extents = state_.addresses.find(address, size);
    if (!extents) return state_.refuse_foreign(fmt::format("{} of {} bytes", who, size.value()), address);
    return SimPlace{.device = *std::move(extents)};
  }

  Result<std::shared_ptr<SimEvent>> find(EventId event) {
    const auto found = state_.events.find(event);
    if (found == state_.events.end()) return state_.refuse_foreign("event", static_cast<std::uint64_t>(event));
    return found->second;
  }

  SimState state_;
  std::unique_ptr<BufferType> buffer_type_;
  std::unique_ptr<VirtualMemory> virtual_memory_;
};

}  // namespace
}  // namespace memory

std::unique_ptr<SimDevice> SimDevice::make(SimOptions options) {
  return std::make_unique<memory::SimDeviceImpl>(std::move(options));
}

}  // namespace stowage
