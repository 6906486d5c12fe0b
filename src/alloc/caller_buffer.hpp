#pragma once

#include <cstring>

#include "memory/interface/errors.hpp"
#include "stowage/alloc/graph_allocator.hpp"

namespace stowage::alloc {

/// Memory of the caller, in the place of a buffer of `type`. It may be exchanged, so that addresses in it stay valid as
/// values. Its bytes can be reached only where the host sees them.
class CallerBuffer final : public Buffer {
 public:
  explicit CallerBuffer(const BufferType& type) : type_(type) {}

  void set(const CallerMemory& memory) { memory_ = memory; }
  [[nodiscard]] const CallerMemory& memory() const { return memory_; }

  [[nodiscard]] std::byte* base() const override { return memory_.address; }
  [[nodiscard]] Bytes size() const override { return memory_.size; }
  [[nodiscard]] const BufferType& type() const override { return type_; }

  Status fill(ByteRange range, std::uint8_t value) override {
    STOWAGE_TRY_STATUS(check(range));
    if (!range.empty())
      std::memset(base() + range.lower.value(), value, static_cast<std::size_t>(range.length().value()));
    return Done{};
  }
  Status write(Bytes offset, std::span<const std::byte> from) override {
    STOWAGE_TRY_STATUS(check(memory::range_from(offset, from.size())));
    if (!from.empty()) std::memcpy(base() + offset.value(), from.data(), from.size());
    return Done{};
  }
  Status read(Bytes offset, std::span<std::byte> to) const override {
    STOWAGE_TRY_STATUS(check(memory::range_from(offset, to.size())));
    if (!to.empty()) std::memcpy(to.data(), base() + offset.value(), to.size());
    return Done{};
  }

 private:
  [[nodiscard]] Status check(ByteRange range) const {
    if (type_.host_visible()) return memory::check_range(type_.name(), range, size());
    return Error{ErrorCode::unsupported, "memory of the caller on a device is reached through the device only", {}};
  }

  const BufferType& type_;
  CallerMemory memory_;
};

}  // namespace stowage::alloc
