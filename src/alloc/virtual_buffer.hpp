#pragma once

#include <memory>

#include "stowage/memory.hpp"

namespace stowage::alloc {

/// Where addresses and pages come from.
struct VirtualSource {
  Device* device = nullptr;  ///< Must have virtual memory.
  Bytes address_space;       ///< Reserved per buffer; a multiple of the page.
  Bytes page;                ///< A multiple of the granularity.
};

/// A buffer at the start of an address range that is reserved once: it grows and shrinks by pages and never moves. Each
/// page is a separate piece of physical memory, so that each can be freed. A page is released as soon as it is mapped,
/// so that unmapping it frees it.
///
/// If the host cannot access the memory, reads and writes are copies by the device (stream 0).
class VirtualBuffer final : public Buffer {
 public:
  /// An empty buffer, which reports `type` as its type.
  static Result<std::unique_ptr<VirtualBuffer>> make(BufferType& type, const VirtualSource& source);
  ~VirtualBuffer() override;

  /// Adds pages until there are at least `size` bytes. Fails with `out_of_memory`, naming type and size, and then
  /// changes nothing, except that pages which cannot be unmapped again stay.
  Status grow(Bytes size);
  /// Removes pages from the end, as long as `size` bytes remain. Their content is lost. If the device fails, pages that
  /// were already removed stay removed.
  Status shrink(Bytes size);

  [[nodiscard]] std::byte* base() const override { return size_ == Bytes(0) ? nullptr : range_; }
  [[nodiscard]] Bytes size() const override { return size_; }
  [[nodiscard]] const BufferType& type() const override { return type_; }
  Status fill(ByteRange range, std::uint8_t value) override;
  Status write(Bytes offset, std::span<const std::byte> from) override;
  Status read(Bytes offset, std::span<std::byte> to) const override;

  /// The address of the first byte, even while the buffer is empty.
  [[nodiscard]] std::byte* range() const { return range_; }

 private:
  VirtualBuffer(BufferType& type, const VirtualSource& source, std::byte* range)
      : type_(type), source_(source), memory_(*source.device->virtual_memory()), range_(range) {}

  Status add_page();
  /// The same error with the name of the type and the size.
  [[nodiscard]] Error in_words_of_type(const Error& error, Bytes size) const;
  [[nodiscard]] Status copy(std::byte* to, const std::byte* from, std::size_t count) const;

  BufferType& type_;
  VirtualSource source_;
  VirtualMemory& memory_;
  std::byte* range_;
  Bytes size_;
};

}  // namespace stowage::alloc
