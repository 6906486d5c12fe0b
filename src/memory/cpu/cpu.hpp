#pragma once

#include <memory>
#include <span>

#include "stowage/memory.hpp"

/// The kinds of host memory, for the buffer type and the device that offer them.
namespace stowage::memory {

inline constexpr DeviceId kHost{0};

/// A buffer in memory that the host can touch; subclasses own that memory.
class HostBuffer : public Buffer {
 public:
  HostBuffer(const BufferType& type, std::span<std::byte> memory) : type_(type), memory_(memory) {}

  [[nodiscard]] std::byte* base() const override { return memory_.empty() ? nullptr : memory_.data(); }
  [[nodiscard]] Bytes size() const override { return Bytes(static_cast<std::int64_t>(memory_.size())); }
  [[nodiscard]] const BufferType& type() const override { return type_; }

  Status fill(ByteRange range, std::uint8_t value) override;
  Status write(Bytes offset, std::span<const std::byte> from) override;
  Status read(Bytes offset, std::span<std::byte> to) const override;

 private:
  const BufferType& type_;
  std::span<std::byte> memory_;
};

/// From the heap, aligned as the type says. Null when there is none. Precondition: size > 0.
std::unique_ptr<Buffer> allocate_heap(const BufferType& type, Bytes size);

/// Anonymous pages of their own, aligned as the type says and, where it pays, so that huge pages fit. Null when there
/// are none. Precondition: size > 0.
std::unique_ptr<Buffer> allocate_mapped(const BufferType& type, Bytes size);

/// All memory and swap space of the machine. Systems that promise more than they have would kill the process that takes
/// them at their word; who asks for more than this is told so instead.
[[nodiscard]] Bytes machine_memory();

/// Null where the system has no files in memory.
std::unique_ptr<VirtualMemory> make_memfd_memory();

}  // namespace stowage::memory
