#pragma once

#include <memory>
#include <span>

#include "stowage/memory.hpp"

/// The kinds of host memory, shared by the CPU's buffer type and device.
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

/// Heap memory, aligned as the type requires. Null when the heap is exhausted. Precondition: size > 0.
std::unique_ptr<Buffer> allocate_heap(const BufferType& type, Bytes size);

/// Anonymous pages used by this buffer alone, aligned as the type requires and, for large buffers, to a huge page. Null
/// when the system has no memory left. Precondition: size > 0.
std::unique_ptr<Buffer> allocate_mapped(const BufferType& type, Bytes size);

/// All memory and swap space of the machine. Systems that overcommit would grant more and later kill the process;
/// requests above this fail instead.
[[nodiscard]] Bytes machine_memory();

/// Null where the system does not support memfd.
std::unique_ptr<VirtualMemory> make_memfd_memory();

}  // namespace stowage::memory
