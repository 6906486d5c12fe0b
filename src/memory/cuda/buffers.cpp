#include <fmt/format.h>

#include "memory/cpu/cpu.hpp"
#include "memory/cuda/context.hpp"
#include "memory/interface/errors.hpp"

namespace stowage::memory::cuda {
namespace {

/// The alignment that cuMemAlloc guarantees.
constexpr Bytes kAlignment{256};

class DeviceBuffer final : public Buffer {
 public:
  DeviceBuffer(const DeviceContext& context, const BufferType& type, Address base, Bytes size)
      : context_(context), type_(type), base_(base), size_(size) {}

  ~DeviceBuffer() override {
    if (size_ == Bytes(0)) return;
    const Result<Scope> scope = context_.enter();
    if (!scope) return;
    const RelaxedCapture relaxed(context_.driver());
    context_.driver().try_call<&Functions::cuMemFree>(base_);
  }

  [[nodiscard]] std::byte* base() const override { return pointer_to(base_); }
  [[nodiscard]] Bytes size() const override { return size_; }
  [[nodiscard]] const BufferType& type() const override { return type_; }

  Status fill(ByteRange range, std::uint8_t value) override {
    STOWAGE_TRY_STATUS(check_range(type_.name(), range, size_));
    if (range.empty()) return Done{};
    STOWAGE_TRY(const Scope scope, context_.enter());
    const Driver& driver = context_.driver();
    STOWAGE_TRY_STATUS(driver.call<&Functions::cuMemsetD8Async>(address_of(base() + range.lower.value()), value,
                                                                count_of(range.length()), context_.transfers()));
    return driver.call<&Functions::cuStreamSynchronize>(context_.transfers());
  }

  Status write(Bytes offset, std::span<const std::byte> from) override {
    STOWAGE_TRY_STATUS(check_range(type_.name(), range_from(offset, from.size()), size_));
    return from.empty() ? Status(Done{}) : transfer(base() + offset.value(), from.data(), from.size());
  }

  Status read(Bytes offset, std::span<std::byte> to) const override {
    STOWAGE_TRY_STATUS(check_range(type_.name(), range_from(offset, to.size()), size_));
    return to.empty() ? Status(Done{}) : transfer(to.data(), base() + offset.value(), to.size());
  }

 private:
  Status transfer(const std::byte* to, const std::byte* from, std::size_t size) const {
    STOWAGE_TRY(const Scope scope, context_.enter());
    const Driver& driver = context_.driver();
    STOWAGE_TRY_STATUS(
        driver.call<&Functions::cuMemcpyAsync>(address_of(to), address_of(from), size, context_.transfers()));
    return driver.call<&Functions::cuStreamSynchronize>(context_.transfers());
  }

  const DeviceContext& context_;
  const BufferType& type_;
  const Address base_;
  const Bytes size_;
};

class DeviceType final : public BufferType {
 public:
  explicit DeviceType(const DeviceContext& context) : context_(context) {}

  [[nodiscard]] std::string_view name() const override { return context_.name(); }
  [[nodiscard]] DeviceId device() const override { return context_.id(); }
  [[nodiscard]] Bytes alignment() const override { return kAlignment; }
  [[nodiscard]] bool host_visible() const override { return false; }
  [[nodiscard]] std::optional<bool> owns(const std::byte* address) const override { return context_.owns(address); }

  Result<std::unique_ptr<Buffer>> allocate(Bytes size) override {
    STOWAGE_TRY_STATUS(check_buffer_size(name(), size, std::nullopt));
    if (size > context_.info().memory) {
      return out_of_memory(name(), size, fmt::format("the device has {} bytes", context_.info().memory.value()));
    }
    Address base{};
    if (size > Bytes(0)) {
      STOWAGE_TRY(const Scope scope, context_.enter());
      const RelaxedCapture relaxed(context_.driver());
      const Status made = context_.driver().call<&Functions::cuMemAlloc>(&base, count_of(size));
      if (!made && made.error().code == ErrorCode::out_of_memory)
        return out_of_memory(name(), size, made.error().message);
      if (!made) return made.error();
    }
    return std::unique_ptr<Buffer>(std::make_unique<DeviceBuffer>(context_, *this, base, size));
  }

 private:
  const DeviceContext& context_;
};

class PinnedBuffer final : public HostBuffer {
 public:
  PinnedBuffer(const DeviceContext& context, const BufferType& type, std::span<std::byte> memory)
      : HostBuffer(type, memory), context_(context) {}

  ~PinnedBuffer() override {
    if (base() == nullptr) return;
    const Result<Scope> scope = context_.enter();
    if (!scope) return;
    const RelaxedCapture relaxed(context_.driver());
    context_.driver().try_call<&Functions::cuMemFreeHost>(static_cast<void*>(base()));
  }

 private:
  const DeviceContext& context_;
};

class PinnedType final : public BufferType {
 public:
  explicit PinnedType(const DeviceContext& context) : context_(context), name_(context.name() + " pinned") {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] DeviceId device() const override { return context_.id(); }
  [[nodiscard]] Bytes alignment() const override { return kAlignment; }
  [[nodiscard]] bool host_visible() const override { return true; }
  [[nodiscard]] std::optional<bool> owns(const std::byte* address) const override {
    const std::optional<MemoryType> type = context_.memory_type(address);
    return type ? std::optional(*type == MemoryType::host) : std::nullopt;
  }

  Result<std::unique_ptr<Buffer>> allocate(Bytes size) override {
    STOWAGE_TRY_STATUS(check_buffer_size(name_, size, std::nullopt));
    // The driver locks as much as it is asked for, and a machine with all its memory locked hangs.
    if (size > machine_memory()) {
      return out_of_memory(name_, size, fmt::format("the machine has {} bytes", machine_memory().value()));
    }
    void* base = nullptr;
    if (size > Bytes(0)) {
      STOWAGE_TRY(const Scope scope, context_.enter());
      const RelaxedCapture relaxed(context_.driver());
      const Status made = context_.driver().call<&Functions::cuMemHostAlloc>(&base, count_of(size), kHostPortable);
      if (!made && made.error().code == ErrorCode::out_of_memory)
        return out_of_memory(name_, size, made.error().message);
      if (!made) return made.error();
    }
    const std::span<std::byte> memory(static_cast<std::byte*>(base), count_of(size));
    return std::unique_ptr<Buffer>(std::make_unique<PinnedBuffer>(context_, *this, memory));
  }

 private:
  const DeviceContext& context_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<BufferType> make_device_type(const DeviceContext& context) {
  return std::make_unique<DeviceType>(context);
}

std::unique_ptr<BufferType> make_pinned_type(const DeviceContext& context) {
  return std::make_unique<PinnedType>(context);
}

}  // namespace stowage::memory::cuda
