#include <fmt/format.h>

#include "memory/interface/errors.hpp"
#include "memory/sim/state.hpp"

namespace stowage::memory {
namespace {

class SimBuffer final : public Buffer {
 public:
  SimBuffer(SimState& state, const BufferType& type, std::byte* base, Bytes size)
      : state_(state), type_(type), base_(base), size_(size), bytes_(std::make_shared<SparseBytes>(size, kUnwritten)) {
    if (base != nullptr) state.addresses.map(base, {.bytes = bytes_, .offset = Bytes(0), .size = size});
    ++state.buffers;
  }

  ~SimBuffer() override;

  [[nodiscard]] std::byte* base() const override { return base_; }
  [[nodiscard]] Bytes size() const override { return size_; }
  [[nodiscard]] const BufferType& type() const override { return type_; }

  Status fill(ByteRange range, std::uint8_t value) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.judge("fill", check_range(type_.name(), range, size_)));
    bytes_->fill(range, value);
    return Done{};
  }

  Status write(Bytes offset, std::span<const std::byte> from) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.judge("write", check_range(type_.name(), range_from(offset, from.size()), size_)));
    bytes_->write(offset, from);
    return Done{};
  }

  Status read(Bytes offset, std::span<std::byte> to) const override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.judge("read", check_range(type_.name(), range_from(offset, to.size()), size_)));
    bytes_->read(offset, to);
    return Done{};
  }

 private:
  SimState& state_;
  const BufferType& type_;
  std::byte* base_;
  Bytes size_;
  std::shared_ptr<SparseBytes> bytes_;
};

/// The addresses that a buffer takes: its own, those before its base, and one more, so that the address right after its
/// end belongs to no buffer.
Bytes span_of(const SimOptions& options, Bytes size) { return options.skew + size + Bytes(1); }

SimBuffer::~SimBuffer() {
  const std::lock_guard lock(state_.mutex);
  --state_.buffers;
  if (base_ == nullptr) return;
  if (state_.addresses.is_pending(base_, size_)) {
    state_.refuse(fmt::format("a buffer of {} bytes was freed while pending work uses it",
                              size_.value()));  // too late to prevent, but recorded
  }
  state_.addresses.unmap(base_, size_);
  state_.addresses.give_back(base_ - state_.options.skew.value(), span_of(state_.options, size_));
  state_.give_back(size_);
}

class SimBufferType final : public BufferType {
 public:
  explicit SimBufferType(SimState& state) : state_(state) {}

  [[nodiscard]] std::string_view name() const override { return state_.options.name; }
  [[nodiscard]] DeviceId device() const override { return state_.options.id; }
  [[nodiscard]] Bytes alignment() const override { return state_.options.alignment; }
  [[nodiscard]] std::optional<Bytes> max_size() const override { return state_.options.max_size; }
  [[nodiscard]] bool host_visible() const override { return false; }
  [[nodiscard]] std::optional<bool> owns(const std::byte* address) const override {
    return SimAddressSpace::device_of(address) == state_.options.id;
  }

  Result<std::unique_ptr<Buffer>> allocate(Bytes size) override {
    const std::lock_guard lock(state_.mutex);
    STOWAGE_TRY_STATUS(state_.enter(SimCall::allocate, size));
    STOWAGE_TRY_STATUS(check_buffer_size(name(), size, max_size()));
    if (size == Bytes(0)) return make(nullptr, size);
    const std::optional<std::byte*> address = state_.addresses.take(span_of(state_.options, size), alignment());
    if (!address) return out_of_memory(name(), size, "no addresses left");
    if (Status taken = state_.take(size); !taken) {
      state_.addresses.give_back(*address, span_of(state_.options, size));
      return std::move(taken).error();
    }
    return make(*address + state_.options.skew.value(), size);
  }

 private:
  std::unique_ptr<Buffer> make(std::byte* base, Bytes size) {
    return std::make_unique<SimBuffer>(state_, *this, base, size);
  }

  SimState& state_;
};

}  // namespace

std::unique_ptr<BufferType> make_sim_buffer_type(SimState& state) { return std::make_unique<SimBufferType>(state); }

}  // namespace stowage::memory
